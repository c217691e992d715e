package agent

func f70() {
	//lines 70
}

func f90t() {
	_ = []int{
		//lines 90
	}
}

package agent

func f68() {
	//lines 68
}

func f69() {
	//lines 69
}

func f69t() {
	_ = []int{
		//lines 69
	}
}

package desired

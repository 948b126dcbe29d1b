# written by the packaging part

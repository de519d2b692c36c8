import multiprocessing

process = multiprocessing.Process(target=print)
process.start()

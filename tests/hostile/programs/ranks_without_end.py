import torch.multiprocessing as mp


def work():
    mp.Process(target=work).start()
    mp.Process(target=work).start()


work()

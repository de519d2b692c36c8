import logging
import torch

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("train")
w = torch.ones(2, requires_grad=True)
log.info("weight %s", w.tolist())
log.debug("not shown")
log.warning("loss %.2f", (w * 2).sum().item())

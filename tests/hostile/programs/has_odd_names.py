globals()['a b'] = 1
globals()['\ud800'] = 2
globals()['</script>'] = 3
import torch
globals()['<img src=x onerror=alert(1)>'] = torch.ones(2)

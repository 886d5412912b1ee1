"""Averaged weights and their learning rate; statistics computed anew for the average."""

# ruff: noqa - in the style of their authors

import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel, SWALR
from shared import fill, toy

x, y = toy(16)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
model = fill(nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4)))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
swa_model = AveragedModel(model)
ema_model = AveragedModel(model, avg_fn=lambda avg, new, num: 0.9 * avg + 0.1 * new)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
swa_start = 1
swa_scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
for epoch in range(4):
    model.train()
    for input, target in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(input), target)
        loss.backward()
        optimizer.step()
        ema_model.update_parameters(model)
        print("%.5f" % loss.item())
    if epoch > swa_start:
        swa_model.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    print("lr %.6f" % optimizer.param_groups[0]["lr"])
# Update bn statistics for the swa_model at the end
torch.optim.swa_utils.update_bn(loader, swa_model)
swa_model.eval()
with torch.no_grad():
    preds = swa_model(x)
    print("swa %.5f" % loss_fn(preds, y).item())
    ema_model.eval()
    print("ema %.5f" % loss_fn(ema_model(x), y).item())
torch.save(swa_model.module.state_dict(), "swa.pt")

"""Train and validate in one loop, a frozen backbone, decay, the best weights put back."""

# ruff: noqa - in the style of their authors

import copy

import torch
from shared import fill, toy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.ReLU())
        self.fc = nn.Linear(16, 4)

    def forward(self, x):
        return self.fc(self.backbone(x))


def train_model(model, criterion, optimizer, scheduler, num_epochs):
    best_weights = copy.deepcopy(model.state_dict())
    best_acc = 0.0
    for epoch in range(num_epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            running_loss, running_corrects = 0.0, 0
            for inputs, labels in loaders[phase]:
                optimizer.zero_grad()
                with torch.set_grad_enabled(phase == "train"):
                    outputs = model(inputs)
                    _, preds = torch.max(outputs, 1)
                    loss = criterion(outputs, labels)
                    if phase == "train":
                        loss.backward()
                        optimizer.step()
                running_loss += loss.item() * inputs.size(0)
                running_corrects += torch.sum(preds == labels.data)
            if phase == "train":
                scheduler.step()
            acc = running_corrects.double() / len(loaders[phase].dataset)
            print(f"{phase} loss: {running_loss:.5f} acc: {acc:.4f}")
            if phase == "val" and acc > best_acc:
                best_acc = acc
                best_weights = copy.deepcopy(model.state_dict())
    print(f"best {best_acc:4f}")
    model.load_state_dict(best_weights)
    return model


loaders = {
    "train": DataLoader(TensorDataset(*toy()), batch_size=8),
    "val": DataLoader(TensorDataset(*toy(16, seed=5)), batch_size=8),
}
model = fill(Net())
for param in model.backbone.parameters():
    param.requires_grad = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
model = train_model(model, nn.CrossEntropyLoss(), optimizer, scheduler, 2)
print("frozen %.5f" % model.backbone[0].weight.abs().sum().item())
# Thawed, and trained on from the weights that were put back.
for param in model.parameters():
    param.requires_grad = True
model = train_model(model, nn.CrossEntropyLoss(), optimizer, scheduler, 1)

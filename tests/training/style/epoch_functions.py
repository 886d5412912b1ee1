"""A function an epoch, in the manner of torch's own MNIST example; losses summed over samples."""

import torch
import torch.nn.functional as F
import torch.optim as optim
from common import Net, batches, filled
from torch.optim.lr_scheduler import StepLR


def train(model, device, train_loader, optimizer, epoch, log_interval):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % log_interval == 0:
            done = batch_idx * len(data)
            print(f"Train Epoch: {epoch} [{done}/{len(train_loader.dataset)}] {loss.item():.6f}")


def test(model, device, test_loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()

    test_loss /= len(test_loader.dataset)
    print(f"Test set: Average loss: {test_loss:.4f}, {correct}/{len(test_loader.dataset)}")


def main():
    device = torch.device("cpu")
    train_loader, test_loader = batches(), batches(20)
    model = filled(Net(log_softmax=True)).to(device)
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    scheduler = StepLR(optimizer, step_size=2, gamma=0.7)
    for epoch in range(1, 5 + 1):
        train(model, device, train_loader, optimizer, epoch, 2)
        test(model, device, test_loader)
        scheduler.step()
    torch.save(model.state_dict(), "mnist_cnn.pt")
    return model


if __name__ == "__main__":
    main()

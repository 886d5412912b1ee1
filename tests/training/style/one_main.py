"""All in one function: schedule per epoch, evaluation, a file that every epoch overwrites."""

# ruff: noqa - in the style of their authors

import argparse

import torch
from common import Net, batches, filled
from torch import nn, optim


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--wd", type=float, default=1e-2)
    args = parser.parse_args([])
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader, test_loader = batches(), batches(20)
    model = filled(Net()).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=args.wd)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    # Training
    for epoch in range(args.epochs):
        model.train()
        running_loss = 0.0
        for i, (inputs, labels) in enumerate(train_loader):
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
            if i % 2 == 0:
                print("[%d, %d] loss: %.3f" % (epoch + 1, i, running_loss / (i + 1)))
        scheduler.step()
        model.eval()
        correct, total = 0, 0
        with torch.no_grad():
            for inputs, labels in test_loader:
                outputs = model(inputs.to(device))
                _, predicted = torch.max(outputs.data, 1)
                total += labels.size(0)
                correct += (predicted == labels.to(device)).sum().item()
        print(f"accuracy {100 * correct / total:.1f}%, lr {scheduler.get_last_lr()[0]}")
        torch.save(model.state_dict(), "one_main.pth")
    return model


if __name__ == "__main__":
    main()

"""One epoch; nothing here says that several processes run it."""

import torch
import utils


def train_one_epoch(model, criterion, optimizer, data_loader, device, epoch):
    model.train()
    total = 0.0
    for image, target in data_loader:
        image, target = image.to(device), target.to(device)
        output = model(image)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    return total / len(data_loader)


def evaluate(model, criterion, data_loader, device):
    model.eval()
    correct, seen = 0, 0
    loss_sum = 0.0
    with torch.inference_mode():
        for image, target in data_loader:
            image = image.to(device, non_blocking=True)
            target = target.to(device, non_blocking=True)
            output = model(image)
            loss_sum += criterion(output, target).item() * image.shape[0]
            correct += (output.argmax(1) == target).sum().item()
            seen += image.shape[0]
    seen = utils.reduce_across_processes(seen).item()
    correct = utils.reduce_across_processes(correct).item()
    loss_sum = utils.reduce_across_processes(loss_sum).item()
    return loss_sum / seen, correct, seen

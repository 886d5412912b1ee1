"""A class that holds what training needs; Nesterov's momentum; the mean loss over batches."""

import torch
from common import Net, batches, filled
from torch import nn


class Trainer:
    def __init__(self, model, loader, valid_loader):
        self.model = model
        self.loader, self.valid_loader = loader, valid_loader
        self.loss_fn = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=0.05, momentum=0.9, nesterov=True
        )

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            loss = self.loss_fn(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * x.size(0)
        return total / len(self.loader.dataset)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        loss_sum, hits, count = 0.0, 0, 0
        for x, y in self.valid_loader:
            logits = self.model(x)
            loss_sum += self.loss_fn(logits, y).item()
            hits += (logits.argmax(1) == y).float().sum().item()
            count += y.size(0)
        return loss_sum / len(self.valid_loader), hits / count

    def fit(self, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch()
            valid_loss, accuracy = self.validate()
            print(f"epoch {epoch}: {train_loss:.4f} {valid_loss:.4f} {accuracy:.3f}")


def main():
    model = filled(Net())
    Trainer(model, batches(), batches(20)).fit(5)
    return model


if __name__ == "__main__":
    main()

"""Layers that pool over windows of random position."""

from mindspore import nn

from migrate.emit.helpers.functions_fractional import fractional_max_pool2d, fractional_max_pool3d


class FractionalMaxPool2d(nn.Cell):
    """Fractional max pooling over two axes."""

    def __init__(
        self,
        kernel_size,
        output_size=None,
        output_ratio=None,
        return_indices=False,
        _random_samples=None,
    ):
        super().__init__()
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self.random_samples = _random_samples

    def construct(self, input):
        return fractional_max_pool2d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self.random_samples,
        )


class FractionalMaxPool3d(FractionalMaxPool2d):
    """Fractional max pooling over three axes."""

    def construct(self, input):
        return fractional_max_pool3d(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self.random_samples,
        )

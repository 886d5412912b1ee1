# %% [0] box areas and IoU
# in: 4,2 3,2
def f(a, b):
    a = torch.cat([a, a + 1.5], dim=1)
    b = torch.cat([b, b + 1.0], dim=1)
    area1 = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area2 = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (area1[:, None] + area2 - inter)

# %% [0] an NMS loop
def nms(boxes, scores, thresh=0.5):
    x1, y1, x2, y2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1) * (y2 - y1)
    _, order = scores.sort(0, descending=True)
    keep = []
    while order.numel() > 0:
        if order.numel() == 1:
            keep.append(order.item())
            break
        i = order[0].item()
        keep.append(i)
        xx1 = x1[order[1:]].clamp(min=x1[i].item())
        yy1 = y1[order[1:]].clamp(min=y1[i].item())
        xx2 = x2[order[1:]].clamp(max=x2[i].item())
        yy2 = y2[order[1:]].clamp(max=y2[i].item())
        inter = (xx2 - xx1).clamp(min=0) * (yy2 - yy1).clamp(min=0)
        iou = inter / (areas[i] + areas[order[1:]] - inter)
        idx = (iou <= thresh).nonzero().squeeze()
        if idx.numel() == 0:
            break
        order = order[idx + 1]
    return torch.LongTensor(keep)

def run():
    p = data(8, 2) * 3
    return nms(torch.cat([p, p + 3], 1), data(8, seed=4))

# %% [0] torchvision's box functions
import torchvision
from torchvision.ops import box_iou, nms

def run():
    p = data(6, 2)
    boxes = torch.cat([p, p + data(6, 2, seed=3).abs() + 1], 1)
    keep = nms(boxes, data(6, seed=5), 0.3)
    return keep, box_iou(boxes, boxes), torchvision.ops.box_convert(boxes, "xyxy", "cxcywh"), torchvision.ops.box_area(boxes), torchvision.ops.clip_boxes_to_image(boxes, (1, 1))

# %% [0] anchors on a grid
def run():
    H, W, stride = 2, 3, 8
    ys, xs = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
    centers = (torch.stack([xs, ys], -1).reshape(-1, 2) + 0.5) * stride
    sizes = torch.tensor([[8, 8], [16, 8]])
    anchors = torch.cat([centers[:, None] - sizes / 2, centers[:, None] + sizes / 2], -1)
    return anchors.view(-1, 4), xs, anchors.shape

# %% [0] encode and decode of box offsets
# in: 5,4 5,4; grad
def f(loc, priors):
    priors = torch.sigmoid(priors) + 0.1
    boxes = torch.cat((priors[:, :2] + loc[:, :2] * 0.1 * priors[:, 2:], priors[:, 2:] * torch.exp(loc[:, 2:] * 0.2)), 1)
    boxes[:, :2] -= boxes[:, 2:] / 2
    boxes[:, 2:] += boxes[:, :2]
    return boxes

# %% [0] matching of anchors to ground truth
# in: 6,3
def f(iou):
    best, idx = iou.max(dim=1)
    best_gt, best_anchor = iou.max(dim=0)
    idx = idx.clone()
    idx[best < 0] = -1
    idx[best_anchor] = torch.arange(iou.size(1))
    pos = idx >= 0
    return idx, pos.sum(), best[pos], pos.nonzero(as_tuple=False), torch.where(pos)[0]

# %% [0] a YOLO grid
# in: 2,18,3,3
def f(p):
    bs, _, ny, nx = p.shape
    p = p.view(bs, 3, 6, ny, nx).permute(0, 1, 3, 4, 2).contiguous()
    yv, xv = torch.meshgrid([torch.arange(ny), torch.arange(nx)])
    grid = torch.stack((xv, yv), 2).view((1, 1, ny, nx, 2)).float()
    y = p.sigmoid()
    xy = (y[..., 0:2] * 2.0 - 0.5 + grid) * 8
    wh = (y[..., 2:4] * 2) ** 2
    return torch.cat((xy, wh, y[..., 4:]), -1).view(bs, -1, 6)

# %% [0] boxes clipped and filtered
def run():
    boxes = torch.tensor([[-3.0, 2.0, 5.0, 9.0], [1.0, 1.0, 1.5, 1.2]])
    h, w = 6, 4
    boxes[:, 0::2].clamp_(min=0, max=w - 1)
    boxes[:, 1::2].clamp_(min=0, max=h - 1)
    ws = boxes[:, 2] - boxes[:, 0]
    keep = (ws >= 1) & ((boxes[:, 3] - boxes[:, 1]) >= 1)
    return boxes, boxes[keep], keep.nonzero().squeeze(1), torch.nonzero(keep, as_tuple=True)[0]

# %% [0] generalised IoU as a loss
# in: 4,2 4,2; grad
def f(p, q):
    a = torch.cat([p, p + 1], -1)
    b = torch.cat([q, q + 2], -1)
    x1, y1, x2, y2 = a.unbind(-1)
    u1, v1, u2, v2 = b.unbind(dim=-1)
    ix = (torch.min(x2, u2) - torch.max(x1, u1)).clamp(0)
    iy = (torch.min(y2, v2) - torch.max(y1, v1)).clamp(0)
    inter = ix * iy
    union = (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - inter
    cx = torch.max(x2, u2) - torch.min(x1, u1)
    cy = torch.max(y2, v2) - torch.min(y1, v1)
    return 1 - inter / union + (cx * cy - union) / (cx * cy)

# %% [0] focal loss for boxes
# in: 6,3 6,3:int64:0:2; grad
def f(x, t):
    t = t.float()
    p = torch.sigmoid(x)
    ce = F.binary_cross_entropy_with_logits(x, t, reduction="none")
    p_t = p * t + (1 - p) * (1 - t)
    loss = ce * ((1 - p_t) ** 2)
    alpha = 0.25 * t + 0.75 * (1 - t)
    return (alpha * loss).sum() / t.sum().clamp(min=1)

# %% [0] masks to boxes and back
def run():
    m = torch.zeros(2, 5, 6, dtype=torch.uint8)
    m[0, 1:3, 2:5] = 1
    m[1, 4, 0] = 1
    out = []
    for one in m:
        ys, xs = torch.where(one)
        out.append([xs.min(), ys.min(), xs.max(), ys.max()])
    return torch.tensor(out), m.sum((1, 2)), m.any(0), m.bool().any(dim=2)

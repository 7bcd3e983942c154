"""Graph kernels, compiled by numba: ordering vertices, inserting edges without cycles, reachability.

Graphs come as edge lists, or as rows: the edges of vertex v are `edge[start[v]:start[v + 1]]`, their other ends
`end[start[v]:start[v + 1]]`.
"""

from __future__ import annotations

import heapq

import numpy as np

from similitude.jit import kernel

_kernel = kernel()


@_kernel
def eades_order(out_start, out_end, out_weight, in_start, in_end, in_weight):  # type: ignore[no-untyped-def]
    """Order of Eades, Lin & Smyth (1993): sinks to the end, sources to the front, else the largest out - in weight."""
    n = len(out_start) - 1
    out_left, in_left, delta = np.diff(out_start), np.diff(in_start), np.zeros(n)
    alive = np.ones(n, np.bool_)
    heap = [(0.0, 0) for _ in range(0)]
    ends = [0 for _ in range(0)]  # sinks and sources found and not yet placed
    for v in range(n):
        delta[v] = out_weight[out_start[v] : out_start[v + 1]].sum() - in_weight[in_start[v] : in_start[v + 1]].sum()
        heap.append((-delta[v], v))
        if out_left[v] == 0 or in_left[v] == 0:
            ends.append(v)
    heapq.heapify(heap)
    order = np.empty(n, np.int64)
    front, back = 0, n
    while front < back:
        if len(ends) > 0:
            v = ends.pop()
            if not alive[v]:
                continue
        else:
            key, v = heapq.heappop(heap)
            if not alive[v] or key != -delta[v]:
                continue
        alive[v] = False
        if out_left[v] == 0 and in_left[v] > 0:
            back -= 1
            order[back] = v
        else:
            order[front] = v
            front += 1
        for k in range(out_start[v], out_start[v + 1]):
            x = out_end[k]
            if alive[x]:
                in_left[x] -= 1
                delta[x] += out_weight[k]
                heapq.heappush(heap, (-delta[x], x))
                if in_left[x] == 0:
                    ends.append(x)
        for k in range(in_start[v], in_start[v + 1]):
            x = in_end[k]
            if alive[x]:
                out_left[x] -= 1
                delta[x] -= in_weight[k]
                heapq.heappush(heap, (-delta[x], x))
                if out_left[x] == 0:
                    ends.append(x)
    return order


@_kernel
def sift(order, out_start, out_end, out_weight, in_start, in_end, in_weight, passes):  # type: ignore[no-untyped-def]
    """Move each vertex to its best place among its neighbours, pass after pass, while that loses less weight."""
    n = len(order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    fresh = np.ones(n, np.bool_)  # a vertex is worth another look when a neighbour has moved
    for _ in range(passes):
        gained = 0.0
        for v in range(n):
            n_out, n_in = out_start[v + 1] - out_start[v], in_start[v + 1] - in_start[v]
            if n_out + n_in == 0 or not fresh[v]:
                continue
            fresh[v] = False
            where, passing = np.empty(n_out + n_in, np.int64), np.empty(n_out + n_in)
            for k in range(n_out):
                where[k], passing[k] = place[out_end[out_start[v] + k]], out_weight[out_start[v] + k]
            for k in range(n_in):
                where[n_out + k] = place[in_end[in_start[v] + k]]
                passing[n_out + k] = -in_weight[in_start[v] + k]
            loss = in_weight[in_start[v] : in_start[v + 1]].sum()  # at the very front every edge into v is lost
            now, best, slot = loss, loss, -1
            for k in np.argsort(where):
                loss += passing[k]
                if where[k] < place[v]:
                    now = loss
                if loss < best - 1e-12:
                    best, slot = loss, where[k]
            if best >= now - 1e-12:
                continue
            gained += now - best
            target = slot if slot > place[v] else slot + 1
            step = 1 if target > place[v] else -1
            for position in range(place[v], target, step):
                order[position] = order[position + step]
                place[order[position]] = position
            order[target] = v
            place[v] = target
            fresh[out_end[out_start[v] : out_start[v + 1]]] = True
            fresh[in_end[in_start[v] : in_start[v + 1]]] = True
        if gained <= 1e-9:
            break
    return order


@_kernel
def insert_edges(place, tail, head, kept, linked, candidates):  # type: ignore[no-untyped-def]
    """Add candidate edges one by one where they close no cycle (Pearce & Kelly 2006); changes `kept` and `place`.

    `place` is a topological position of every vertex for the edges kept so far; it stays one for those kept after.
    `linked` are edges with the same paths as the edges kept so far: these, or fewer.
    """
    n, m = len(place), len(tail)
    first_out, next_out = np.full(n, -1, np.int64), np.full(m, -1, np.int64)
    first_in, next_in = np.full(n, -1, np.int64), np.full(m, -1, np.int64)
    for e in range(m):
        if linked[e]:
            next_out[e], first_out[tail[e]] = first_out[tail[e]], e
            next_in[e], first_in[head[e]] = first_in[head[e]], e
    seen = np.full(n, -1, np.int64)
    after, before = np.empty(n, np.int64), np.empty(n, np.int64)
    for e in candidates:
        u, v = tail[e], head[e]
        if place[u] > place[v]:
            n_after, cycle = 0, False
            after[0], seen[v], n_after = v, 2 * e, 1
            done = 0
            while done < n_after and not cycle:
                edge = first_out[after[done]]
                done += 1
                while edge >= 0:
                    x = head[edge]
                    if x == u:
                        cycle = True
                        break
                    if seen[x] != 2 * e and place[x] < place[u]:
                        seen[x] = 2 * e
                        after[n_after] = x
                        n_after += 1
                    edge = next_out[edge]
            if cycle:
                continue
            before[0], seen[u], n_before = u, 2 * e + 1, 1
            done = 0
            while done < n_before:
                edge = first_in[before[done]]
                done += 1
                while edge >= 0:
                    x = tail[edge]
                    if seen[x] != 2 * e + 1 and place[x] > place[v]:
                        seen[x] = 2 * e + 1
                        before[n_before] = x
                        n_before += 1
                    edge = next_in[edge]
            moved = np.empty(n_before + n_after, np.int64)
            ahead, behind = before[:n_before], after[:n_after]
            moved[:n_before] = ahead[np.argsort(place[ahead])]
            moved[n_before:] = behind[np.argsort(place[behind])]
            free = np.sort(place[moved])
            for k in range(len(moved)):
                place[moved[k]] = free[k]
        kept[e] = True
        next_out[e], first_out[u] = first_out[u], e
        next_in[e], first_in[v] = first_in[v], e


@_kernel
def closure(order, out_start, out_end):  # type: ignore[no-untyped-def]
    """Reachability of an acyclic graph as bits, and which edges no longer path implies.

    `order` is topological, and the edges of a vertex come in that order of their ends. Row v of the bits has bit x
    where a path leads from v to x.
    """
    n = len(order)
    bits, needed = np.zeros((n, n // 64 + 1), np.uint64), np.zeros(len(out_end), np.bool_)
    for position in range(n - 1, -1, -1):
        v = order[position]
        for k in range(out_start[v], out_start[v + 1]):
            x = out_end[k]
            if not (bits[v, x >> 6] >> np.uint64(x & 63)) & np.uint64(1):
                needed[k] = True
                for word in range(bits.shape[1]):
                    bits[v, word] |= bits[x, word]
                bits[v, x >> 6] |= np.uint64(1) << np.uint64(x & 63)
    return bits, needed


@_kernel
def closes_cycle(bits, tail, head):  # type: ignore[no-untyped-def]
    """Whether each edge's head already leads to its tail."""
    closes = np.empty(len(tail), np.bool_)
    for e in range(len(tail)):
        u, v = tail[e], head[e]
        closes[e] = (bits[v, u >> 6] >> np.uint64(u & 63)) & np.uint64(1)
    return closes


@_kernel
def levels(out_start, out_end, in_count):  # type: ignore[no-untyped-def]
    """Length of the longest path into each vertex, and Kahn's order, which is shorter than n where there is a cycle."""
    n = len(out_start) - 1
    level, order, left = np.zeros(n, np.int64), np.empty(n, np.int64), in_count.copy()
    count = 0
    for v in range(n):
        if left[v] == 0:
            order[count] = v
            count += 1
    done = 0
    while done < count:
        v = order[done]
        done += 1
        for k in range(out_start[v], out_start[v + 1]):
            x = out_end[k]
            level[x] = max(level[x], level[v] + 1)
            left[x] -= 1
            if left[x] == 0:
                order[count] = x
                count += 1
    return level, order[:count]


@_kernel
def reduce_by_search(out_start, out_end):  # type: ignore[no-untyped-def]
    """Which edges no longer path implies, by a search from every vertex: for graphs too large for bits, and sparse."""
    n = len(out_start) - 1
    seen, stack = np.full(n, -1, np.int64), np.empty(n, np.int64)
    needed = np.zeros(len(out_end), np.bool_)
    for v in range(n):
        for k in range(out_start[v], out_start[v + 1]):
            if seen[out_end[k]] == v:
                continue
            needed[k] = True
            seen[out_end[k]] = v
            stack[0], height = out_end[k], 1
            while height > 0:
                height -= 1
                x = stack[height]
                for j in range(out_start[x], out_start[x + 1]):
                    if seen[out_end[j]] != v:
                        seen[out_end[j]] = v
                        stack[height] = out_end[j]
                        height += 1
    return needed


@_kernel
def pack_cycles(out_start, out_end, out_edge, tail, head, weight, rejected, most_edges):  # type: ignore[no-untyped-def]
    """Total weight of cycles that share no weight, each through a rejected edge: no order can lose less.

    For each rejected edge u -> v, shortest paths v -> u over what weight is left, at most `most_edges` edges looked at.
    """
    n = len(out_start) - 1
    left = weight.copy()
    seen, came, queue = np.full(n, -1, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    packed, search = 0.0, 0
    for e in rejected:
        u, v = tail[e], head[e]
        while left[e] > 0:
            search += 1
            queue[0], seen[v], count, done, looked, found = v, search, 1, 0, 0, False
            while done < count and not found and looked < most_edges:
                x = queue[done]
                done += 1
                for k in range(out_start[x], out_start[x + 1]):
                    looked += 1
                    y = out_end[k]
                    if left[out_edge[k]] > 0 and seen[y] != search:
                        seen[y], came[y] = search, out_edge[k]
                        queue[count] = y
                        count += 1
                        if y == u:
                            found = True
                            break
            if not found:
                break
            least, x = left[e], u
            while x != v:
                least = min(least, left[came[x]])
                x = tail[came[x]]
            left[e] -= least
            packed += least
            x = u
            while x != v:
                left[came[x]] -= least
                x = tail[came[x]]
    return packed

import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PeerMessage, UdpPeers } from './peers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const message = (name: string) => new PeerMessage({ address: `/micwatch/ch/${name}/name`, args: ['Zoe'] })

/** Creates peers that count the packets they receive. */
function createPeers(count: number, bytesPerSecond?: number) {
  const peers = new UdpPeers(bytesPerSecond)
  return Array.from({ length: count }, () => {
    const sent = { packets: 0, bytes: 0 }
    const peer = peers.create((packet) => {
      sent.packets += 1
      sent.bytes += packet.length
    })
    return { peer, sent }
  })
}

// Reliability: 3.12.14.
it('sends all peers together no more than the limit, in turns', async () => {
  const [busy, other] = createPeers(2, 60_000)
  if (busy === undefined || other === undefined) throw new Error('there are two peers')
  const total = () => busy.sent.bytes + other.sent.bytes
  for (let slot = 1; slot <= 10_000; slot++) busy.peer.put(`${slot}`, message(`${slot}`))
  await vi.advanceTimersByTimeAsync(1000)
  expect(total()).toBeGreaterThan(50_000)
  expect(total()).toBeLessThan(64_000)
  for (let second = 0; second < 3; second++) {
    const before = total()
    other.peer.put(`${second}`, message('other'))
    await vi.advanceTimersByTimeAsync(1000)
    expect(other.sent.packets).toBe(second + 1)
    expect(total() - before).toBeLessThan(64_000)
  }
})

it('without a limit sends everything soon', async () => {
  const [only] = createPeers(1)
  for (let slot = 1; slot <= 10_000; slot++) only?.peer.put(`${slot}`, message(`${slot}`))
  await vi.advanceTimersByTimeAsync(1000)
  expect(only?.sent.packets).toBe(10_000)
})

it('sends nothing to a peer that was closed', async () => {
  const [closed, other] = createPeers(2)
  for (const one of [closed, other]) one?.peer.put('1', message('1'))
  closed?.peer.close()
  await vi.advanceTimersByTimeAsync(100)
  expect([closed?.sent.packets, other?.sent.packets]).toEqual([0, 1])
})

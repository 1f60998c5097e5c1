import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WebSocket } from 'ws'
import type { LiveChange } from '../contract/live-messages.ts'
import { toSweep } from '../domain/frequencies/sweeps/sweep.ts'
import { LiveSpectrum } from '../frequencies/live-spectrum.ts'
import type { LiveData } from './live-data.ts'
import { LiveJournal } from './live-journal.ts'
import type { LivePublisher, LiveSubscriber } from './live-publisher.ts'
import { LiveSession } from './live-session.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function sweepAt(second: number) {
  const dbm = [-90, -91]
  return toSweep({ startedAt: second * 1000, fromMhz: 470, stepMhz: 1, dbm, isCalibrated: true })
}

/** Creates a session on a socket that takes data only while it is not stalled. */
function start({ snapshotChars = 10, isStalled = false, acks = false } = {}) {
  const journal = new LiveJournal()
  let subscriber: LiveSubscriber | undefined
  const frames: { readonly text: string; readonly isLast: boolean }[] = []
  const waiting: (() => void)[] = []
  const state = { isStalled, closeCode: null as number | null }
  const socket = {
    readyState: 1,
    OPEN: 1,
    send(bytes: Buffer, { fin }: { readonly fin: boolean }, done: () => void) {
      frames.push({ text: String(bytes), isLast: fin })
      if (state.isStalled) waiting.push(done)
      else queueMicrotask(done)
    },
    close: (code: number) => {
      state.closeCode = code
    },
    terminate: () => {},
  }
  const live = {
    journal,
    lists: { via: () => [] },
    synchronize: () => {},
    repeatLevels: () => {},
    subscribe: (added: LiveSubscriber) => {
      subscriber = added
      return () => {}
    },
  }
  const liveData = { members: () => null, snapshotJson: () => JSON.stringify('x'.repeat(snapshotChars)) }
  const onProgress = vi.fn()
  const session = new LiveSession(
    socket as unknown as WebSocket,
    live as unknown as LivePublisher,
    liveData as unknown as LiveData,
    '1',
    { filter: {}, levels: 'false', acks, since: null },
    onProgress,
  )
  session.start()
  const announce = (change: LiveChange) => subscriber?.deliver([journal.append(change, {})])
  const publish = (id: number) => announce({ type: 'receiver_removed', id })
  /** Ends the stall: the socket takes all waiting data, like that of a client that reads again. */
  const release = async () => {
    state.isStalled = false
    for (const done of waiting.splice(0)) done()
    await vi.advanceTimersByTimeAsync(0)
  }
  const messages = () => {
    const complete: string[] = []
    let text = ''
    for (const frame of frames) {
      text += frame.text
      if (!frame.isLast) continue
      complete.push(text)
      text = ''
    }
    return complete.map((json) => JSON.parse(json))
  }
  return { session, journal, state, frames, announce, publish, release, messages, onProgress }
}

describe('a live session', () => {
  it('sends a long snapshot in fragments, and other messages only after the last', async () => {
    const { session, frames, messages, publish } = start({ snapshotChars: 100_000 })
    session.send({ type: 'pong' })
    publish(7)
    await vi.advanceTimersByTimeAsync(0)
    expect(frames.length).toBeGreaterThan(4)
    expect(messages().map(({ type }) => type)).toEqual(['snapshot', 'pong', 'receiver_removed'])
  })

  it('sends a tick after a second without another message', async () => {
    const { messages, publish } = start()
    await vi.advanceTimersByTimeAsync(900)
    publish(1)
    await vi.advanceTimersByTimeAsync(900)
    expect(messages().map(({ type }) => type)).toEqual(['snapshot', 'receiver_removed'])
    await vi.advanceTimersByTimeAsync(1200)
    expect(messages().map(({ type }) => type)).toEqual(['snapshot', 'receiver_removed', 'tick', 'tick'])
  })

  // Conformance: C-23.83.
  it('leaves out sweeps while earlier data is unread, and sends the next one after it', async () => {
    const { session, state, messages, release } = start()
    await vi.advanceTimersByTimeAsync(0)
    const spectrum = new LiveSpectrum('roof', sweepAt(1))
    const push = (second: number) => {
      spectrum.add(sweepAt(second))
      session.deliverSweep(spectrum)
    }
    push(2)
    session.selectSweeps({ type: 'select_sweeps', source: 'roof' })
    state.isStalled = true
    for (const second of [3, 4, 5]) push(second)
    await release()
    push(6)
    await vi.advanceTimersByTimeAsync(0)
    const sweeps = messages().filter(({ type }) => type === 'sweep')
    expect(sweeps.map(({ at }) => new Date(at).getUTCSeconds())).toEqual([3, 6])
  })

  // Conformance: C-9b.14.
  it('closes the connection after 30 s without progress, but not after a pause of 15 s', async () => {
    const paused = start({ isStalled: true })
    await vi.advanceTimersByTimeAsync(15_000)
    await paused.release()
    expect(paused.onProgress).toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(paused.state.closeCode).toBeNull()
    const stalled = start({ isStalled: true })
    await vi.advanceTimersByTimeAsync(29_000)
    expect(stalled.state.closeCode).toBeNull()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(stalled.state.closeCode).toBe(1013)
  })

  it('does not count a snapshot that is being sent as a queue, but drops what waits beyond a limit', async () => {
    const { state, publish, release, messages } = start({ snapshotChars: 1_000_000, isStalled: true })
    for (let id = 1; id <= 100; id += 1) publish(id)
    await release()
    expect(messages().map(({ seq }) => seq)).toEqual(Array.from({ length: 101 }, (_, seq) => seq))
    state.isStalled = true
    for (let id = 1; id <= 10_000; id += 1) publish(id)
    await release()
    const types = messages().map(({ type }) => type)
    expect(types.filter((type) => type === 'snapshot').length).toBe(2)
    expect(messages().at(-1)).toMatchObject({ type: 'snapshot', seq: 10_100 })
  })

  describe('of a client that confirms what it has received', () => {
    const rename = (id: number, name: string) => ({ type: 'channel', id, receiver_id: 1, name }) as LiveChange

    it('merges what the line cannot carry, and continues when it is confirmed', async () => {
      const { session, announce, messages } = start({ acks: true })
      session.acknowledge(0)
      await vi.advanceTimersByTimeAsync(10)
      announce(rename(1, 'x'.repeat(3_000)))
      for (let turn = 1; turn <= 50; turn += 1) for (const id of [1, 2]) announce(rename(id, `take ${turn}`))
      await vi.advanceTimersByTimeAsync(0)
      expect(messages().map(({ seq }) => seq)).toEqual([0, 1])
      session.acknowledge(1)
      await vi.advanceTimersByTimeAsync(0)
      expect(messages().slice(2)).toMatchObject([
        { seq: 100, id: 1, name: 'take 50' },
        { seq: 101, id: 2, name: 'take 50' },
      ])
    })

    it('cannot resume after a message that has overtaken another', async () => {
      const { session, journal, announce, messages } = start({ acks: true })
      session.acknowledge(0)
      announce(rename(1, 'x'.repeat(3_000)))
      announce(rename(2, 'held'))
      announce({ type: 'alert', id: 1 } as LiveChange)
      session.acknowledge(1)
      await vi.advanceTimersByTimeAsync(0)
      expect(messages().map(({ seq }) => seq)).toEqual([0, 1, 3, 2])
      session.acknowledge(3)
      session.stop()
      expect([1, 2, 3, 4].map((seq) => journal.isInHole(seq))).toEqual([false, true, true, false])
    })

    it('can resume if nothing was overtaken', async () => {
      const { session, journal, announce } = start({ acks: true })
      session.acknowledge(0)
      for (const id of [1, 2, 3]) announce(rename(id, 'x'.repeat(1_000)))
      session.stop()
      expect([1, 2, 3].map((seq) => journal.isInHole(seq))).toEqual([false, false, false])
    })
  })
})

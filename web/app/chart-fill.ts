/** Fills the small charts with recorded levels when they appear, and after a gap. */

import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import { maxLevelChannels } from '../../src/domain/history/tiers.ts'
import type { Api } from './api.ts'
import { type History, sampleCount, sampleMs } from './history.ts'
import { serviceNow } from './service-time.ts'
import type { Watch } from './watch.ts'

export interface ChartFill {
  /** Returns a function that ends it. */
  show(channelId: number): () => void
}

interface ChartFillOptions {
  readonly api: Pick<Api, 'read'>
  readonly watch: Pick<Watch, 'get' | 'subscribe'>
  readonly history: History
  redraw(): void
  readonly signal: AbortSignal
}

/** A second is recorded this long after its end. */
const recordedAfterMs = 2_000
const spanMs = sampleCount * sampleMs

export function createChartFill({ api, watch, history, redraw, signal }: ChartFillOptions): ChartFill {
  /** Number of charts by channel. */
  const shown = new Map<number, number>()
  const waiting = new Set<number>()
  let isFilling = false
  let wasFresh = watch.get().isFresh

  const unsubscribe = watch.subscribe(() => {
    const { isFresh } = watch.get()
    if (isFresh && !wasFresh) for (const id of shown.keys()) add(id)
    wasFresh = isFresh
  })
  signal.addEventListener('abort', unsubscribe)

  function add(channelId: number) {
    waiting.add(channelId)
    // Until the first snapshot has arrived, the page may still show a sign-in or an error.
    if (watch.get().isFresh && !isFilling) void fillWaiting()
  }

  /** Charts that appear together, or during a request, are filled together. */
  async function fillWaiting() {
    isFilling = true
    await Promise.resolve()
    while (waiting.size > 0) {
      const ids = [...waiting].filter((id) => shown.has(id))
      waiting.clear()
      const startedAt = serviceNow()
      if (await fill(ids, startedAt - spanMs, startedAt)) void fillEnd(ids, startedAt)
    }
    isFilling = false
  }

  /** Fills the last seconds, which were not recorded at the first request. */
  async function fillEnd(ids: readonly number[], startedAt: number) {
    await new Promise((resolve) => setTimeout(resolve, recordedAfterMs + sampleMs))
    await fill(ids, startedAt - recordedAfterMs - sampleMs, startedAt + sampleMs)
  }

  /** Resolves to false without levels. */
  async function fill(ids: readonly number[], fromMs: number, toMs: number): Promise<boolean> {
    for (let at = 0; at < ids.length; at += maxLevelChannels) {
      if (signal.aborted) return false
      const query = new URLSearchParams({
        channels: ids.slice(at, at + maxLevelChannels).join(),
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        max_points: String(sampleCount + 1),
        series: 'rf,audio',
      })
      const response = await api.read(`/api/history/levels/?${query}`, 'object')
      // Without recorded levels, the charts begin with the first levels that arrive.
      if (!response.ok || response.body.step_seconds * 1_000 !== sampleMs) return false
      for (const channel of response.body.channels) {
        history.fill(channel.id, Date.parse(response.body.from), secondsOf(channel))
      }
      redraw()
    }
    return ids.length > 0
  }

  return {
    show(channelId) {
      const count = shown.get(channelId) ?? 0
      shown.set(channelId, count + 1)
      if (count === 0) add(channelId)
      return () => {
        const left = (shown.get(channelId) ?? 0) - 1
        if (left > 0) shown.set(channelId, left)
        else shown.delete(channelId)
      }
    },
  }
}

/** Like live values, levels count only while a transmitter is received. */
function secondsOf({ state, rf, audio }: HistoryLevelsBody['channels'][number]) {
  const whileOn = (values: readonly (number | null)[]) =>
    values.map((value, index) => (state[index] === '1' || state[index] === 'm' ? value : null))
  return { rf: whileOn(rf?.min ?? []), audio: whileOn(audio?.max ?? []) }
}

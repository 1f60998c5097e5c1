import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Answer, Api, Problem } from './api.ts'
import { doDeed } from './do-deed.ts'

type Step = 'done' | 'lost' | 'answer lost' | 'busy'

const swap = { type: 'swap', a: { channelId: 1, slot: 10 }, b: { channelId: 2, slot: 20 } } as const

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A service that holds positions, one channel each, and fares with each request as `steps` say; then well. */
function startService(steps: readonly Step[], taken: Record<number, number> = {}) {
  const slotOf = new Map<number, number>([
    [1, 10],
    [2, 20],
    ...Object.entries(taken).map(([id, slot]) => [+id, slot] as const),
  ])
  let asked = 0
  const refuse = (problem: Problem): Answer<never> => ({ ok: false, problem })
  const write: Api['write'] = async (_method, path, body, isBody) => {
    const [id, slot] = [Number(/(\d+)\/$/.exec(path)?.[1]), (body as { slot: number }).slot]
    const step = steps[asked] ?? 'done'
    asked += 1
    if (step === 'lost') return refuse({ kind: 'unreachable', detail: 'The connection failed.' })
    if (step === 'busy') return refuse({ kind: 'refused', detail: 'Busy.', waitSeconds: 1 })
    const holder = [...slotOf].find(([other, at]) => at === slot && other !== id)
    if (holder !== undefined) return refuse({ kind: 'refused', field: 'slot', detail: `${slot} is taken.` })
    slotOf.set(id, slot)
    if (step === 'answer lost') return refuse({ kind: 'unreachable', detail: 'No answer.' })
    const answer: unknown = { id, slot }
    return isBody(answer) ? { ok: true, body: answer } : refuse({ kind: 'not_understood', detail: '' })
  }
  return { api: { write } as Api, slots: () => [slotOf.get(1), slotOf.get(2)], asked: () => asked }
}

async function swapped(steps: readonly Step[], taken?: Record<number, number>) {
  const service = startService(steps, taken)
  const doing = doDeed(service.api, swap)
  await vi.runAllTimersAsync()
  return { ok: (await doing).ok, slots: service.slots(), asked: service.asked() }
}

it.each<[string, Step[], { ok: boolean; slots: number[] }]>([
  ['nothing', [], { ok: true, slots: [20, 10] }],
  ['stepping aside', ['lost'], { ok: false, slots: [10, 20] }],
  ['the first move', ['done', 'lost'], { ok: false, slots: [10, 20] }],
  ['the answer to the first move', ['done', 'answer lost'], { ok: true, slots: [20, 10] }],
  ['the first move, and the way back twice', ['done', 'lost', 'lost', 'busy'], { ok: false, slots: [10, 20] }],
  ['the second move, for seven seconds', ['done', 'done', 'lost', 'lost', 'busy'], { ok: true, slots: [20, 10] }],
  ['the answer to the second move', ['done', 'done', 'answer lost'], { ok: true, slots: [20, 10] }],
])('a swap leaves nobody aside when this fails: %s', async (_, steps, expected) => {
  expect(await swapped(steps)).toMatchObject(expected)
})

it('steps further aside where others wait already', async () => {
  expect(await swapped([], { 3: 64_999, 4: 64_998 })).toMatchObject({ ok: true, slots: [20, 10] })
})

it('gives up on a service that stays away, and says so', async () => {
  const away = Array.from({ length: 9 }, (): Step => 'lost')
  expect(await swapped(['done', 'done', ...away])).toEqual({ ok: false, slots: [20, 64_999], asked: 7 })
})

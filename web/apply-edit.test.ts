import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createApi } from './api.ts'
import { applyEdit, groupsAfter } from './apply-edit.ts'

type Step = 'done' | 'lost' | 'answer lost' | 'busy'

const swap = { type: 'swap', a: { channelId: 1, slot: 10 }, b: { channelId: 2, slot: 20 } } as const

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** A service with one channel per slot. It handles the first requests as `steps` specify and the others normally. */
function startService(steps: readonly Step[], taken: Record<number, number> = {}) {
  const slotOf = new Map<number, number>([
    [1, 10],
    [2, 20],
    ...Object.entries(taken).map(([id, slot]) => [+id, slot] as const),
  ])
  let requests = 0
  const refuse = (status: number, body: object, headers = {}) => Response.json(body, { status, headers })
  const respond = async (path: string, { body = '' }: { body?: string }) => {
    if (path === '/api/auth/session') return Response.json({ csrf_token: null })
    const [id, slot] = [Number(/(\d+)\/$/.exec(path)?.[1]), JSON.parse(body).slot as number]
    const step = steps[requests] ?? 'done'
    requests += 1
    if (step === 'lost') throw new TypeError('fetch failed')
    if (step === 'busy') return refuse(503, { error: 'Busy.' }, { 'retry-after': '1' })
    const holder = [...slotOf].find(([other, at]) => at === slot && other !== id)
    if (holder !== undefined) return refuse(409, { error: 'Already in use.', details: `slot: ${slot} is taken` })
    slotOf.set(id, slot)
    if (step === 'answer lost') throw new TypeError('fetch failed')
    return Response.json({ id, slot })
  }
  vi.stubGlobal('fetch', respond)
  const api = createApi('', new AbortController().signal)
  return { api, slots: () => [slotOf.get(1), slotOf.get(2)], requests: () => requests }
}

async function swapped(steps: readonly Step[], taken?: Record<number, number>) {
  const service = startService(steps, taken)
  const doing = applyEdit(service.api, swap)
  await vi.runAllTimersAsync()
  return { ok: (await doing).ok, slots: service.slots(), requests: service.requests() }
}

it.each<[string, Step[], { ok: boolean; slots: number[] }]>([
  ['nothing', [], { ok: true, slots: [20, 10] }],
  ['moving to a temporary slot', ['lost'], { ok: false, slots: [10, 20] }],
  ['the first move', ['done', 'lost'], { ok: false, slots: [10, 20] }],
  ['the response to the first move', ['done', 'answer lost'], { ok: true, slots: [20, 10] }],
  ['the first move, and the way back twice', ['done', 'lost', 'lost', 'busy'], { ok: false, slots: [10, 20] }],
  ['the second move, for seven seconds', ['done', 'done', 'lost', 'lost', 'busy'], { ok: true, slots: [20, 10] }],
  ['the response to the second move', ['done', 'done', 'answer lost'], { ok: true, slots: [20, 10] }],
])('a swap leaves no channel in a temporary slot when this fails: %s', async (_, steps, expected) => {
  expect(await swapped(steps)).toMatchObject(expected)
})

it('uses the next temporary slot when the first is taken', async () => {
  expect(await swapped([], { 3: 64_999, 4: 64_998 })).toMatchObject({ ok: true, slots: [20, 10] })
})

it('gives up when the service stays unreachable', async () => {
  const away = Array.from({ length: 9 }, (): Step => 'lost')
  expect(await swapped(['done', 'done', ...away])).toEqual({ ok: false, slots: [20, 64_999], requests: 7 })
})

it('adds a created group once, even if it is already known from a message', () => {
  const group = { id: 7, title: 'Band', slots: [], hide_charts: false, manufacturer: null }
  expect(groupsAfter([group], { type: 'create_group', group })).toEqual([group])
})

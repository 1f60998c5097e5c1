/**
 * Kills a service that handles writes, or its database, with SIGKILL at random moments. Every acknowledged write must
 * be stored afterwards. A write that was not acknowledged must be stored completely or not at all.
 */

import { setTimeout as sleep } from 'node:timers/promises'

/** The parts of a running service that this module needs. */
export interface KillableService {
  send(method: string, path: string, options: object): Promise<{ readonly status: number }>
  get(path: string): Promise<{ readonly status: number; readonly json: unknown }>
  kill(signal: 'SIGKILL'): unknown
  readonly ended: Promise<unknown>
}

export interface KillReport {
  readonly cycles: number
  readonly acknowledged: number
  /** Describes acknowledged writes that are missing, and rows that no request created. */
  readonly lost: readonly string[]
  /** The longest time from a start until the service responded. */
  readonly slowestStartMs: number
}

const groups = 50
const writers = 4

/** Runs the cycles and leaves the last service running. `random` returns numbers in [0, 1). */
export async function killCycles<V extends KillableService>(options: {
  readonly cycles: number
  /**
   * Starts a service on the same database. `last` is the previous service (undefined on the first call). It has been
   * killed, except with `killDatabase`: then only the database has been killed.
   */
  readonly start: (last?: V) => Promise<V>
  readonly random: () => number
  /** Kills the database instead of the service. The service may reject writes meanwhile. */
  readonly killDatabase?: () => Promise<unknown>
}): Promise<KillReport & { readonly last: V }> {
  const { cycles, start, random, killDatabase } = options
  const acknowledged = Array<number>(groups + 1).fill(0)
  const sent = Array<number>(groups + 1).fill(0)
  const lost: string[] = []
  let count = 0
  let slowestStartMs = 0

  const startTimed = async (last?: V) => {
    const startedAt = performance.now()
    const service = await start(last)
    slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt)
    return service
  }
  const saveGroup = (service: V, id: number, title: string) =>
    service.send('PUT', `/api/groups/${id}/`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title, slots: [id, id + groups] }),
    })

  /** Sets the titles of groups to increasing numbers; each writer has its own groups. */
  async function write(service: V, writer: number): Promise<void> {
    for (let index = writer; ; index += writers) {
      const id = (index % groups) + 1
      const number = (sent[id] ?? 0) + 1
      sent[id] = number
      const { status } = await saveGroup(service, id, String(number))
      if (status === 503 && killDatabase !== undefined) return
      if (status !== 200) throw new Error(`a write returned ${status}`)
      acknowledged[id] = number
      count += 1
    }
  }

  async function compare(service: V, cycle: number): Promise<void> {
    const { json } = await service.get('/api/groups/')
    const stored = new Map((json as { id: number; title: string; slots: number[] }[]).map((group) => [group.id, group]))
    for (let id = 1; id <= groups; id += 1) {
      const { title = 'nothing', slots = [] } = stored.get(id) ?? {}
      const isComplete = String(slots) === String([id, id + groups])
      const from = acknowledged[id] ?? 0
      const to = sent[id] ?? 0
      if (Number(title) >= from && Number(title) <= to && isComplete) continue
      lost.push(`cycle ${cycle}, group ${id}: ${title} [${slots}] is not between ${from} and ${to}`)
    }
  }

  let service = await startTimed()
  for (let id = 1; id <= groups; id += 1) {
    await service.send('POST', '/api/group/', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ title: '0', slots: [id, id + groups] }),
    })
  }
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const current = service
    const writes = Array.from({ length: writers }, (_, writer) => write(current, writer).catch((error) => error))
    await sleep(50 + random() * 1450)
    await (killDatabase ?? killService)(current)
    const results = await Promise.all(writes)
    const rejected = results.find((error) => /returned/.test(String(error)))
    if (rejected !== undefined) lost.push(`cycle ${cycle}: ${rejected}`)
    service = await startTimed(current)
    await compare(service, cycle)
  }
  return { cycles, acknowledged: count, lost, slowestStartMs, last: service }
}

async function killService(service: KillableService): Promise<void> {
  service.kill('SIGKILL')
  await service.ended
}

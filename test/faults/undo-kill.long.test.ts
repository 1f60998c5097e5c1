/** The service is killed between the statements of an undo. */

import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { createInstallation } from '../support/app.ts'

/** The columns that an undo may change, without times and versions. */
const contents = {
  channels: 'id, slot',
  placeholders: 'id, slot, kind',
  slot_entries: 'channel_id, placeholder_id, label, color, performer, role, note, planned_frequency, spares',
  groups: 'id, title, slots, hide_charts, zone, manufacturer',
  group_settings: 'group_id, key, value',
  performers: 'id, name, notes, picture',
  assignments: 'performer, wireless_unit, role, is_active',
  scenes: 'id, title, arrangement, recalled_at is null',
  frequency_plans: 'id, title, carriers, used_at is null',
  undo_records: 'id, is_undone',
  "events where kind = 'moved'": 'kind',
  "audit where action = 'undo'": 'target',
}

// Conformance: C-21.74, C-23.44.
it('undoes everything or nothing', async () => {
  const installation = await createInstallation()
  const data = join(installation.path, 'data')
  const kept = join(installation.path, 'kept')
  await installation.write('driver.mjs', countingDriver)
  await installation.write('hooks.mjs', useCountingDriver)
  const first = await installation.serve()
  const channels = [1, 2, 3].map((channel) => ({
    channel,
    transmitter: { name: `H0${channel}`, details: { model: 'MTP60' } },
  }))
  await first.post('/api/ingest/', { source: 'script', receivers: [{ api_device_id: 'rack', name: 'Rack', channels }] })
  const [receiver] = await first.receivers()
  const moves = receiver?.channels.map(({ id }) => ({ channel_id: id, slot: 20 + id })) ?? []
  const show = (await first.post('/api/shows/', { title: 'Matinee' })).json
  const group = (await first.post('/api/group/', { title: 'Band', slots: [1, 2, 30] })).json
  const text = [1, 2, 3, 40, 41].map((slot) => `${slot};Singer ${slot};Role ${slot}`).join('\n')
  const cast = { text, columns: { slot: 0, name: 1, role: 2 }, create_slots: true }
  const imported = await first.post('/api/import/cast/', cast)
  await first.put('/api/slots/60/', { label: 'Spare', performer_name: 'Ada' })
  const scene = (await first.post(`/api/shows/${show.id}/scenes/`, { title: 'Act 1' })).json
  const plans = '/api/frequency-plans/'
  const plan = (await first.post(plans, { title: 'Evening', carriers: [{ slot: 1, mhz: '470.000' }] })).json
  await first.post(`${plans}${plan.id}/use`)
  await first.put('/api/slots/60/', { label: 'Guest', performer_name: 'Ben', color: 'red' })
  // Each can be undone, because none changes what an earlier one has changed.
  const actions = {
    cast: imported,
    recall: await first.post(`/api/shows/${show.id}/scenes/${scene.id}/recall`, {}),
    moves: await first.put('/api/slots/', { moves }),
    group: await first.send('DELETE', `/api/groups/${group.id}/`),
    plan: await first.send('DELETE', `${plans}${plan.id}/`),
  }
  first.kill('SIGTERM')
  await first.ended
  await cp(data, kept, { recursive: true })

  const read = () => {
    const database = new DatabaseSync(join(data, 'micwatch.db'))
    try {
      expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
      return Object.entries(contents).map(([from, columns]) => database.prepare(`select ${columns} from ${from}`).all())
    } finally {
      database.close()
    }
  }
  /** Restores the database, and undoes the action in a service that dies before this statement. */
  const undo = async (id: string, dieAt: number) => {
    await rm(data, { recursive: true })
    await cp(kept, data, { recursive: true })
    const env = { NODE_OPTIONS: `--import=${join(installation.path, 'hooks.mjs')}`, DIE_AT: String(dieAt) }
    const service = await installation.serve([], env)
    const response = await service.post(`/api/undo/${id}`).catch(() => null)
    if (response !== null) service.kill('SIGTERM')
    await service.ended
    const statements = Number(/statements (\d+)/.exec(service.err())?.[1] ?? 0)
    return { status: response?.status ?? null, statements, contents: read() }
  }

  const before = read()
  for (const [name, { headers }] of Object.entries(actions)) {
    const id = String(headers['x-undo-id'])
    const whole = await undo(id, Number.POSITIVE_INFINITY)
    expect([name, whole.status]).toEqual([name, 200])
    expect(whole.contents).not.toEqual(before)
    const last = whole.statements
    expect(last).toBeGreaterThan(10)
    for (const dieAt of new Set([1, 4, Math.round(last / 3), Math.round(last / 2), last - 3, last - 1, last])) {
      const killed = await undo(id, dieAt)
      expect([name, dieAt, killed.status, killed.contents]).toEqual([name, dieAt, null, before])
    }
    // After the commit, before the response.
    const late = await undo(id, last + 1)
    expect([name, late.status, late.contents]).toEqual([name, null, whole.contents])
    // The action can be undone after the next start, but only once.
    const restarted = await installation.serve()
    expect((await restarted.post(`/api/undo/${id}`)).status).toBe(409)
    restarted.kill('SIGTERM')
    await restarted.ended
  }
}, 600_000)

const sqlite = JSON.stringify(import.meta.resolve('@photostructure/sqlite'))

/** A module that is loaded before the program. It replaces the database driver with the one below. */
const useCountingDriver = `
  import { register } from 'node:module'
  const url = JSON.stringify(new URL('driver.mjs', import.meta.url).href)
  const resolve = '(specifier, context, next) => specifier === "@photostructure/sqlite" ? { url: ' + url +
    ', shortCircuit: true } : next(specifier, context)'
  register('data:text/javascript,' + encodeURIComponent('export const resolve = ' + resolve))
`

/** Counts the statements of an undo up to its commit, and kills the process before number `DIE_AT`. */
const countingDriver = `
  import { DatabaseSync as Driver } from ${sqlite}
  export * from ${sqlite}
  const dieAt = Number(process.env.DIE_AT)
  let count = null
  const step = (sql, database) => {
    if (count === null && /from "undo_records" where "id"/.test(sql)) count = { of: database, statements: 0 }
    if (count === null || count.of !== database) return
    count.statements += 1
    if (count.statements === dieAt) process.kill(process.pid, 'SIGKILL')
  }
  export class DatabaseSync extends Driver {
    exec(sql) {
      step(sql, this)
      super.exec(sql)
      if (sql !== 'commit' || count?.of !== this) return
      console.error('statements ' + count.statements)
      if (dieAt === count.statements + 1) process.kill(process.pid, 'SIGKILL')
      count.of = null
    }
    prepare(sql) {
      const statement = super.prepare(sql)
      for (const name of ['all', 'run']) {
        const call = statement[name]
        const value = (...values) => {
          step(sql, this)
          return call.apply(statement, values)
        }
        Object.defineProperty(statement, name, { value })
      }
      return statement
    }
  }
`

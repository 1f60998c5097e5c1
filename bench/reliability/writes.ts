/** W1, W2: what was acknowledged is there after kill -9, and nothing is there twice. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import { killCycles } from '../../test/faults/kill-cycles.ts'
import { createPostgresDatabase, startPostgres } from '../../test/postgres.ts'
import { makeFolder, until } from '../harness.ts'
import { atMost, type Check, type Finding, none } from './check.ts'
import { type ListSystem, startLists } from './fuzz/lists.ts'
import { createRandom } from './fuzz/random.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

const receivers = 20

export const writes: Check = {
  id: 'W1',
  what: 'acknowledged writes outlive kill -9 of the service and of PostgreSQL, and no receiver is there twice (W2)',
  isQuick: true,
  async run(atEnd, { isQuick, seed, say }) {
    const simulator = await startShureSimulator({ ...plainShow, receivers, story: true })
    atEnd(() => simulator.close())
    const lists = await startLists(seed, isQuick ? 100 : 1000)
    atEnd(() => lists.close())
    const random = createRandom(seed).next
    const findings: Finding[] = []
    const told = [entryOf(simulator, { poll_interval: 1 })]

    const folder = await makeFolder(atEnd)
    const start = (config: object) => () => startService(atEnd, folder, { manufacturers: told, ...config })
    const onSqlite = await killCycles({ cycles: isQuick ? 8 : 100, start: start({}), random })
    findings.push(...(await judge('SQLite', onSqlite, say)))
    const both = { manufacturers: [...told, lists.entry] }
    findings.push(await pollTogether(lists, start(both), say))
    findings.push(none('SQLite: pages damaged', findDamage(join(folder, 'data', 'micwatch.db')), say))
    if (isQuick) return findings

    const server = await startPostgres()
    atEnd(() => server.stop())
    const other = await makeFolder(atEnd)
    const startOnPostgres = async () => {
      const { url } = await createPostgresDatabase(server.url)
      return () => startService(atEnd, other, { manufacturers: told, database_url: url })
    }
    const onPostgres = await killCycles({ cycles: 30, start: await startOnPostgres(), random })
    findings.push(...(await judge('PostgreSQL', onPostgres, say)))

    const startAnew = await startOnPostgres()
    const underPostgres = await killCycles({
      cycles: 10,
      random,
      killDatabase: server.kill,
      async start(last?: Service) {
        if (last !== undefined) {
          await server.restart()
          await comesBack(last)
        }
        return startAnew()
      },
    })
    findings.push(...(await judge('PostgreSQL killed', underPostgres, say)))
    return findings
  },
}

function findDamage(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
  database.close()
  return rows.map((row) => row.integrity_check).filter((one) => one !== 'ok')
}

/** It outlives its database, and writes again; then it makes room for one that knows only what is stored. */
async function comesBack(service: Service): Promise<void> {
  await until('it writes again', async () => (await service.post('/api/group/', { title: 'back' })).status === 201)
  service.kill('SIGKILL')
  await service.ended
}

async function judge(
  engine: string,
  report: { last: Service; cycles: number; acknowledged: number; lost: readonly string[]; slowestStartMs: number },
  say: (text: string) => void,
): Promise<Finding[]> {
  const { last, cycles, acknowledged, lost, slowestStartMs } = report
  await until('every receiver is known', async () => (await last.get('/api/receivers/')).json.length === receivers)
  const twice = await findTwins(last)
  last.kill('SIGTERM')
  await last.ended
  return [
    none(`${engine}: writes lost of ${acknowledged} in ${cycles} kills`, lost, say),
    none(`${engine}: receivers there twice`, twice, say),
    atMost(`${engine}: slowest start after a kill`, slowestStartMs / 1000, 5, 's'),
  ]
}

/** Two services poll lists that never agree, both as fast as they can; halfway one of them is killed and starts again. */
async function pollTogether(
  system: ListSystem,
  start: () => Promise<Service>,
  say: (text: string) => void,
): Promise<Finding> {
  const services = [await start(), await start()]
  let isOver = false
  const polling = services.map(async (_, at) => {
    while (!isOver) await services[at]?.post('/api/refresh/?manufacturer=lists').catch(() => sleep(50))
  })
  await until('half of the lists are given', () => system.lists >= system.total / 2, 300_000)
  services[0]?.kill('SIGKILL')
  await services[0]?.ended
  services[0] = await start()
  await until('all lists are given', () => system.lists > system.total, 300_000)
  isOver = true
  await Promise.all(polling)
  for (const service of services) await service.post('/api/refresh/?manufacturer=lists')
  // What one has stored the other looks for twice a second.
  await sleep(1500)
  const twins: string[] = []
  for (const service of services) {
    const { json } = await service.get('/api/receivers/?manufacturer=lists')
    if (json.length < system.stock / 2) twins.push(`only ${json.length} receivers of ${system.stock} devices`)
    if (json.length > system.stock) twins.push(`${json.length} receivers of ${system.stock} devices`)
    twins.push(...(await findTwins(service)))
    service.kill('SIGTERM')
    await service.ended
  }
  return none(`W2: receivers there twice after ${system.total} lists at random, polled by two`, twins, say)
}

const pageSize = 25

/** By id, serial number and MAC address, a manufacturer at a time, through the door. */
async function findTwins(service: Service): Promise<string[]> {
  const seen = new Set<string>()
  const twins: string[] = []
  for (let page: string | null = `/api/receivers/?page_size=${pageSize}`; page !== null; ) {
    const { json } = await service.get(page)
    for (const { id } of json.results as { id: number }[]) twins.push(...(await noteReceiver(service, id, seen)))
    page = json.next
  }
  return twins
}

/** What of it was seen before. */
async function noteReceiver(service: Service, id: number, seen: Set<string>): Promise<string[]> {
  const { json } = await service.get(`/api/receivers/${id}/`)
  const keys = ['id', 'api_device_id', 'serial_number', 'mac_address']
    .filter((field) => json[field] !== null && json[field] !== '')
    .map((field) => `${json.manufacturer} ${field} ${String(json[field]).toLowerCase()}`)
  const twins = keys.filter((key) => seen.has(key)).map((key) => `twice: ${key}`)
  for (const key of keys) seen.add(key)
  return twins
}

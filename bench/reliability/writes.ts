/** Checks W1 and W2 of docs/reliability.md: acknowledged writes survive kill -9, and no receiver is stored twice. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { killCycles } from '../../test/support/faults/kill-cycles.ts'
import { createPostgresDatabase, startPostgres } from '../../test/support/store/postgres.ts'
import { createTempFolder, waitFor } from '../harness.ts'
import { atMost, type Check, expectNone, type Finding } from './check.ts'
import { createRandom } from './fuzz/random.ts'
import { type ListSystem, startListSystem } from './fuzz/random-lists.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

const receivers = 20

export const writes: Check = {
  id: 'W1',
  description:
    'acknowledged writes survive kill -9 of the service and of PostgreSQL, and no receiver is stored twice (W2)',
  isQuick: true,
  async run(atEnd, { isQuick, seed, log }) {
    const simulator = await startShureSimulator({ ...plainShow, receivers, story: true })
    atEnd(() => simulator.close())
    const lists = await startListSystem(seed, isQuick ? 100 : 1000)
    atEnd(() => lists.close())
    const random = createRandom(seed).next
    const findings: Finding[] = []
    const shureOnly = [entryOf(simulator, { poll_interval: 1 })]

    const folder = await createTempFolder(atEnd)
    const start = (config: object) => () => startService(atEnd, folder, { manufacturers: shureOnly, ...config })
    const onSqlite = await killCycles({ cycles: isQuick ? 8 : 100, start: start({}), random })
    findings.push(...(await checkReport('SQLite', onSqlite, log)))
    const withLists = { manufacturers: [...shureOnly, lists.entry] }
    findings.push(await pollTogether(lists, start(withLists), log))
    findings.push(expectNone('SQLite: damaged pages', findCorruption(join(folder, 'data', 'micwatch.db')), log))
    if (isQuick) return findings

    const server = await startPostgres()
    atEnd(() => server.stop())
    const postgresFolder = await createTempFolder(atEnd)
    const startOnPostgres = async () => {
      const { url } = await createPostgresDatabase(server.url)
      return () => startService(atEnd, postgresFolder, { manufacturers: shureOnly, database_url: url })
    }
    const onPostgres = await killCycles({ cycles: 30, start: await startOnPostgres(), random })
    findings.push(...(await checkReport('PostgreSQL', onPostgres, log)))

    const startOnNewDatabase = await startOnPostgres()
    const postgresKilled = await killCycles({
      cycles: 10,
      random,
      killDatabase: server.kill,
      async start(last?: Service) {
        if (last !== undefined) {
          await server.restart()
          await expectRecovery(last)
        }
        return startOnNewDatabase()
      },
    })
    findings.push(...(await checkReport('PostgreSQL killed', postgresKilled, log)))
    return findings
  },
}

function findCorruption(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const rows = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
  database.close()
  return rows.map((row) => row.integrity_check).filter((result) => result !== 'ok')
}

/**
 * Waits until the service writes again after the database restart, then kills it, so that the next service must start
 * from the stored data.
 */
async function expectRecovery(service: Service): Promise<void> {
  await waitFor(
    'the service writes again',
    async () => (await service.post('/api/group/', { title: 'back' })).status === 201,
  )
  service.kill('SIGKILL')
  await service.ended
}

async function checkReport(
  engine: string,
  report: { last: Service; cycles: number; acknowledged: number; lost: readonly string[]; slowestStartMs: number },
  log: (text: string) => void,
): Promise<Finding[]> {
  const { last, cycles, acknowledged, lost, slowestStartMs } = report
  await waitFor('all receivers are listed', async () => (await last.get('/api/receivers/')).json.length === receivers)
  const duplicates = await findDuplicates(last)
  last.kill('SIGTERM')
  await last.ended
  return [
    expectNone(`${engine}: lost writes, of ${acknowledged} in ${cycles} kills`, lost, log),
    expectNone(`${engine}: duplicate receivers`, duplicates, log),
    atMost(`${engine}: slowest start after a kill`, slowestStartMs / 1000, 5, 's'),
  ]
}

/**
 * Lets two services continuously poll a system whose list changes with every request; halfway, one service is killed
 * and restarted.
 */
async function pollTogether(
  system: ListSystem,
  start: () => Promise<Service>,
  log: (text: string) => void,
): Promise<Finding> {
  const services = [await start(), await start()]
  let isDone = false
  const polling = services.map(async (_, index) => {
    while (!isDone) await services[index]?.post('/api/refresh/?manufacturer=lists').catch(() => sleep(50))
  })
  await waitFor('half of the lists are sent', () => system.listCount >= system.total / 2, 300_000)
  services[0]?.kill('SIGKILL')
  await services[0]?.ended
  services[0] = await start()
  await waitFor('all lists are sent', () => system.listCount > system.total, 300_000)
  isDone = true
  await Promise.all(polling)
  for (const service of services) await service.post('/api/refresh/?manufacturer=lists')
  // Each service checks twice a second for changes that the other has stored.
  await sleep(1500)
  const duplicates: string[] = []
  for (const service of services) {
    const { json } = await service.get('/api/receivers/?manufacturer=lists')
    if (json.length < system.deviceCount / 2)
      duplicates.push(`Only ${json.length} receivers of ${system.deviceCount} devices`)
    if (json.length > system.deviceCount) duplicates.push(`${json.length} receivers of ${system.deviceCount} devices`)
    duplicates.push(...(await findDuplicates(service)))
    service.kill('SIGTERM')
    await service.ended
  }
  return expectNone(
    `W2: duplicate receivers after ${system.total} random lists, polled by two services`,
    duplicates,
    log,
  )
}

const pageSize = 25

/** Finds receivers with the same id, serial number or MAC address within a manufacturer, through the REST API. */
async function findDuplicates(service: Service): Promise<string[]> {
  const knownKeys = new Set<string>()
  const duplicates: string[] = []
  for (let page: string | null = `/api/receivers/?page_size=${pageSize}`; page !== null; ) {
    const { json } = await service.get(page)
    for (const { id } of json.results as { id: number }[])
      duplicates.push(...(await findDuplicatesOf(service, id, knownKeys)))
    page = json.next
  }
  return duplicates
}

/** Returns the keys of this receiver that are already in `knownKeys`, because another receiver has them too. */
async function findDuplicatesOf(service: Service, id: number, knownKeys: Set<string>): Promise<string[]> {
  const { json } = await service.get(`/api/receivers/${id}/`)
  const keys = ['id', 'api_device_id', 'serial_number', 'mac_address']
    .filter((field) => json[field] !== null && json[field] !== '')
    .map((field) => `${json.manufacturer} ${field} ${String(json[field]).toLowerCase()}`)
  const duplicates = keys.filter((key) => knownKeys.has(key)).map((key) => `Duplicate: ${key}`)
  for (const key of keys) knownKeys.add(key)
  return duplicates
}

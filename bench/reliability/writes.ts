/** W1, W2: what was acknowledged is there after kill -9, and nothing is there twice. */

import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import { killCycles } from '../../test/faults/kill-cycles.ts'
import { createPostgresDatabase, startPostgres } from '../../test/postgres.ts'
import { makeFolder, until } from '../harness.ts'
import { atMost, type Check, type Finding, none } from './check.ts'
import { createRandom } from './fuzz/random.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

const receivers = 20

export const writes: Check = {
  id: 'W1',
  what: 'acknowledged writes outlive kill -9 (SQLite, PostgreSQL), and no receiver is there twice (W2)',
  isQuick: true,
  async run(atEnd, { isQuick, seed, say }) {
    const simulator = await startShureSimulator({ ...plainShow, receivers, story: true })
    atEnd(() => simulator.close())
    const random = createRandom(seed).next
    const findings: Finding[] = []
    const manufacturers = [entryOf(simulator, { poll_interval: 1 })]

    const folder = await makeFolder(atEnd)
    const onSqlite = await killCycles({
      cycles: isQuick ? 8 : 100,
      start: () => startService(atEnd, folder, { manufacturers }),
      random,
    })
    findings.push(...(await judge('SQLite', onSqlite, say)))
    const path = join(folder, 'data', 'micwatch.db')
    const database = new DatabaseSync(path, { readOnly: true })
    const damage = database
      .prepare('pragma integrity_check')
      .all()
      .map((row) => String((row as { integrity_check: string }).integrity_check))
    database.close()
    findings.push(
      none(
        'SQLite: pages damaged',
        damage.filter((one) => one !== 'ok'),
        say,
      ),
    )
    if (isQuick) return findings

    const server = await startPostgres()
    atEnd(() => server.stop())
    const { url } = await createPostgresDatabase(server.url)
    const other = await makeFolder(atEnd)
    const onPostgres = await killCycles({
      cycles: 30,
      start: () => startService(atEnd, other, { manufacturers, database_url: url }),
      random,
    })
    findings.push(...(await judge('PostgreSQL', onPostgres, say)))
    return findings
  },
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

/** By id, serial number and MAC address, a manufacturer at a time, through the door. */
async function findTwins(service: Service): Promise<string[]> {
  const seen = new Set<string>()
  const twins: string[] = []
  const { json: list } = await service.get('/api/receivers/')
  for (const { id } of list as { id: number }[]) {
    const { json } = await service.get(`/api/receivers/${id}/`)
    for (const field of ['id', 'api_device_id', 'serial_number', 'mac_address']) {
      const value = json[field]
      const key = `${json.manufacturer} ${field} ${value}`
      if (value !== null && value !== '' && seen.has(key)) twins.push(`twice: ${key}`)
      seen.add(key)
    }
  }
  return twins
}

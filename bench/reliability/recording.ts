/** Check H1 of docs/reliability.md: kill -9 while recording loses at most 10 s, and nothing that was stored before. */

import { join } from 'node:path'
import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { killWhileRecording } from '../../test/support/faults/recording-kills.ts'
import { createPostgresDatabase, startPostgres } from '../../test/support/store/postgres.ts'
import { type AtEnd, createTempFolder, waitFor } from '../harness.ts'
import { atMost, type Check, expectNone } from './check.ts'
import { createRandom } from './fuzz/random.ts'
import { entryOf, type Service, startService } from './service.ts'

export const recording: Check = {
  id: 'H1',
  description: 'kill -9 while recording loses at most 10 s, and nothing that was stored before',
  async run(atEnd, { seed, log }) {
    const folder = await createTempFolder(atEnd)
    const onSqlite = await run(atEnd, seed, folder, `sqlite:${join(folder, 'data', 'micwatch.db')}`)
    const server = await startPostgres()
    atEnd(() => server.stop())
    const { url } = await createPostgresDatabase(server.url)
    const onPostgres = await run(atEnd, seed, await createTempFolder(atEnd), url)
    return [
      ...[onSqlite, onPostgres].flatMap(({ lostSeconds, changed }, index) => {
        const engine = index === 0 ? 'SQLite' : 'PostgreSQL'
        return [
          {
            ...atMost(`${engine}: most seconds lost in ${cycles} kills`, Math.max(...lostSeconds), 10, 's'),
            isCritical: true,
          },
          expectNone(`${engine}: stored seconds that changed`, changed, log),
        ]
      }),
    ]
  },
}

const cycles = 30

async function run(atEnd: AtEnd, seed: number, folder: string, databaseUrl: string) {
  const simulator = await startShureSimulator({ receivers: 2 })
  atEnd(() => simulator.close())
  const manufacturers = [entryOf(simulator, { poll_interval: 1 })]
  return killWhileRecording({
    cycles,
    databaseUrl,
    start: () => startService(atEnd, folder, { manufacturers, database_url: databaseUrl }),
    findChannel,
    wait: (description, isMet) => waitFor(description, isMet, 60_000),
    random: createRandom(seed).next,
  })
}

async function findChannel(service: Service): Promise<number> {
  let found: number | undefined
  await waitFor('a device is known', async () => {
    const { receivers } = (await service.get('/api/data.json')).json as DataJson
    found = receivers[0]?.channels[0]?.id
    return found !== undefined
  })
  return found as number
}

interface DataJson {
  readonly receivers: readonly { readonly channels: readonly { readonly id: number }[] }[]
}

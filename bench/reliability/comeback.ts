/** V2: normal again soon after the database was away, and after the process that polls has died. */

import { startShureSimulator } from '../../src/manufacturers/shure/simulator.ts'
import { createPostgresDatabase, startPostgres } from '../../test/postgres.ts'
import { makeFolder, until } from '../harness.ts'
import { atMost, type Check, type Finding } from './check.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

export const comeback: Check = {
  id: 'V2',
  what: 'normal after PostgreSQL was restarted or hung, and polled again after the process that polled was killed',
  async run(atEnd, { isQuick }) {
    const times = isQuick ? 1 : 3
    const simulator = await startShureSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => simulator.close())
    const server = await startPostgres()
    atEnd(() => server.stop())
    const { url } = await createPostgresDatabase(server.url)
    const manufacturers = [entryOf(simulator, { poll_interval: 1 })]
    // One folder for all: those who share a database share its key.
    const folder = await makeFolder(atEnd)
    const start = () => startService(atEnd, folder, { manufacturers, database_url: url })
    const service = await start()
    await until('all is normal', () => isNormal(service))

    const restarted: number[] = []
    const hung: number[] = []
    for (let nth = 0; nth < times; nth += 1) {
      await server.halt()
      await until('it is noticed', async () => !(await isNormal(service)))
      await server.restart()
      restarted.push(await secondsUntilNormal(service))
      await server.signal('SIGSTOP')
      await until('it is noticed', async () => !(await isNormal(service)), 30_000)
      await server.signal('SIGCONT')
      hung.push(await secondsUntilNormal(service))
    }
    return [
      atMost('after a restart', Math.max(...restarted), 5, 's'),
      atMost('after a hang', Math.max(...hung), 5, 's'),
      await takeover(times, service, start, () => simulator.requests.total),
    ]
  },
}

async function isNormal(service: Service): Promise<boolean> {
  const { status, json } = await service.get('/api/health/')
  return (
    status === 200 && json.status === 'healthy' && (await service.post('/api/group/', { title: 'V2' })).status === 201
  )
}

async function secondsUntilNormal(service: Service): Promise<number> {
  const backAt = performance.now()
  await until('all is normal again', () => isNormal(service), 40_000)
  return (performance.now() - backAt) / 1000
}

/** Whoever polls is killed, again and again; the one that stood by goes on. */
async function takeover(
  times: number,
  first: Service,
  start: () => Promise<Service>,
  polls: () => number,
): Promise<Finding> {
  const seconds: number[] = []
  let polling = first
  for (let nth = 0; nth < times; nth += 1) {
    const next = await start()
    polling.kill('SIGKILL')
    await polling.ended
    const killedAt = performance.now()
    const before = polls()
    await until('somebody polls', () => polls() > before, 40_000)
    seconds.push((performance.now() - killedAt) / 1000)
    polling = next
  }
  return atMost('somebody else polls', Math.max(...seconds), 20, 's')
}

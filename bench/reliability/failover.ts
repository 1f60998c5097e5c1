/**
 * Check V2 of docs/reliability.md: recovery times after a database outage, and after the polling process is killed.
 */

import { startShureSimulator } from '../../simulators/shure/device-api.ts'
import { createPostgresDatabase, startPostgres } from '../../test/support/store/postgres.ts'
import { createTempFolder, waitFor } from '../harness.ts'
import { atMost, type Check, type Finding } from './check.ts'
import { entryOf, plainShow, type Service, startService } from './service.ts'

export const failover: Check = {
  id: 'V2',
  description:
    'recovery after PostgreSQL was restarted or hung, and takeover of polling after the polling process was killed',
  async run(atEnd, { isQuick }) {
    const rounds = isQuick ? 1 : 3
    const simulator = await startShureSimulator({ ...plainShow, receivers: 5 })
    atEnd(() => simulator.close())
    const server = await startPostgres()
    atEnd(() => server.stop())
    const { url } = await createPostgresDatabase(server.url)
    const manufacturers = [entryOf(simulator, { poll_interval: 1 })]
    // All processes use the same folder, because processes that share a database need the same key.
    const folder = await createTempFolder(atEnd)
    const start = () => startService(atEnd, folder, { manufacturers, database_url: url })
    const service = await start()
    await waitFor('the service works', () => isWorking(service))

    const restarted: number[] = []
    const hung: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await server.halt()
      await waitFor('the service reports the failure', async () => !(await isWorking(service)))
      await server.restart()
      restarted.push(await secondsUntilWorking(service))
      await server.signal('SIGSTOP')
      await waitFor('the service reports the failure', async () => !(await isWorking(service)), 30_000)
      await server.signal('SIGCONT')
      hung.push(await secondsUntilWorking(service))
    }
    return [
      atMost('after a restart', Math.max(...restarted), 5, 's'),
      atMost('after a hang', Math.max(...hung), 5, 's'),
      await measureTakeover(rounds, service, start, () => simulator.requests.total),
    ]
  },
}

async function isWorking(service: Service): Promise<boolean> {
  const { status, json } = await service.get('/api/health/')
  return (
    status === 200 && json.status === 'healthy' && (await service.post('/api/group/', { title: 'V2' })).status === 201
  )
}

async function secondsUntilWorking(service: Service): Promise<number> {
  const restoredAt = performance.now()
  await waitFor('the service works again', () => isWorking(service), 40_000)
  return (performance.now() - restoredAt) / 1000
}

/** Kills the polling process repeatedly, and measures the time until the standby process polls. */
async function measureTakeover(
  rounds: number,
  first: Service,
  start: () => Promise<Service>,
  countRequests: () => number,
): Promise<Finding> {
  const seconds: number[] = []
  let active = first
  for (let round = 0; round < rounds; round += 1) {
    const next = await start()
    active.kill('SIGKILL')
    await active.ended
    const killedAt = performance.now()
    const before = countRequests()
    await waitFor('the standby process polls', () => countRequests() > before, 40_000)
    seconds.push((performance.now() - killedAt) / 1000)
    active = next
  }
  return atMost('takeover of polling', Math.max(...seconds), 20, 's')
}

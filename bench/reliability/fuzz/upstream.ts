/** Exposes the service to hostile upstreams: it must keep running, and recover when they do. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileSystem } from './hostile-system.ts'
import { addProblem, count, type FuzzReport, recordDuration } from './report.ts'
import type { Target } from './rest.ts'

async function send(report: FuzzReport, { address, headers }: Target, method: string, path: string, body?: object) {
  const startedAt = performance.now()
  const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(address + path, {
    method,
    headers: { ...headers, ...json },
    body: body && JSON.stringify(body),
  })
  const text = await response.text()
  count(report, `${method} ${path.split('?')[0]?.split('/').slice(0, 4).join('/')} ${response.status}`)
  recordDuration(report, `${method} ${path}`, performance.now() - startedAt)
  if (response.status >= 500 && !(response.status === 503 && path.includes('refresh'))) {
    addProblem(report, `${method} ${path} returned ${response.status}: ${text.slice(0, 200)}`)
  }
  return { status: response.status, text }
}

/** Triggers polls until the system has sent `total` hostile responses. `code` is its manufacturer code. */
export async function fuzzPolls(
  report: FuzzReport,
  target: Target,
  { system, code, total }: { system: HostileSystem; code: string; total: number },
): Promise<void> {
  for (let requests = 0; system.responses < total; requests++) {
    if (requests > total * 3)
      return addProblem(report, `only ${system.responses} of ${total} hostile responses were requested`)
    await send(report, target, 'POST', `/api/refresh/?manufacturer=${code}`)
    if (requests % 10 === 0) await send(report, target, 'GET', '/api/data.json')
  }
}

/** Stops the hostile responses and waits until a refresh succeeds. */
export async function expectRecovery(
  report: FuzzReport,
  target: Target,
  system: HostileSystem,
  code: string,
): Promise<void> {
  system.recover()
  for (let tries = 0; tries < 100; tries++) {
    if ((await send(report, target, 'POST', `/api/refresh/?manufacturer=${code}`)).status === 200) return
    await sleep(100)
  }
  addProblem(report, 'polling did not recover after the system returned valid responses')
}

/** Forces the service to renew all subscriptions, until `total` streams to the systems have been opened. */
export async function fuzzStreams(
  report: FuzzReport,
  target: Target,
  { systems, total }: { systems: ReadonlyMap<string, HostileSystem>; total: number },
): Promise<void> {
  const countStreams = () => [...systems.values()].reduce((sum, system) => sum + system.streams, 0)
  let progressAt = performance.now()
  for (let round = 0; countStreams() < total; round++) {
    const before = countStreams()
    for (const code of systems.keys()) {
      await send(report, target, 'PATCH', `/api/admin/manufacturers/${code}/`, { config: { timeout: 5 + (round % 2) } })
    }
    await sleep(300)
    if (countStreams() > before) progressAt = performance.now()
    if (performance.now() - progressAt > 20_000)
      return addProblem(report, `only ${countStreams()} of ${total} streams were opened`)
  }
  await send(report, target, 'GET', '/api/data.json')
}

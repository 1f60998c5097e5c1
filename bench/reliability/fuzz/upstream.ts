/** Systems that answer and push anything: the service goes on, keeps what it knows, and recovers when they do. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileSystem } from './hostile.ts'
import { complain, count, type FuzzReport, noteTime } from './report.ts'
import type { Target } from './rest.ts'

async function send(report: FuzzReport, { address, headers }: Target, method: string, path: string, body?: object) {
  const startedAt = performance.now()
  const json: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await fetch(address + path, {
    method,
    headers: { ...headers, ...json },
    body: body && JSON.stringify(body),
  })
  const text = await answer.text()
  count(report, `${method} ${path.split('?')[0]?.split('/').slice(0, 4).join('/')} ${answer.status}`)
  noteTime(report, `${method} ${path}`, performance.now() - startedAt)
  if (answer.status >= 500 && !(answer.status === 503 && path.includes('refresh'))) {
    complain(report, `${method} ${path} answered ${answer.status}: ${text.slice(0, 200)}`)
  }
  return { status: answer.status, text }
}

/** Polls until the system has answered so often. `code`: the manufacturer it stands for. */
export async function fuzzPolls(
  report: FuzzReport,
  target: Target,
  { system, code, total }: { system: HostileSystem; code: string; total: number },
): Promise<void> {
  for (let asked = 0; system.answers < total; asked++) {
    if (asked > total * 3) return complain(report, `only ${system.answers} of ${total} hostile answers were asked for`)
    await send(report, target, 'POST', `/api/refresh/?manufacturer=${code}`)
    if (asked % 10 === 0) await send(report, target, 'GET', '/api/data.json')
  }
}

/** The system answers well from now on, and is heard again. */
export async function recover(report: FuzzReport, target: Target, system: HostileSystem, code: string): Promise<void> {
  system.behave()
  for (let tries = 0; tries < 100; tries++) {
    if ((await send(report, target, 'POST', `/api/refresh/?manufacturer=${code}`)).status === 200) return
    await sleep(100)
  }
  complain(report, 'the system answers well again, and is not heard')
}

/** Has the links made anew, all at once, until there were so many. */
export async function fuzzStreams(
  report: FuzzReport,
  target: Target,
  { systems, total }: { systems: ReadonlyMap<string, HostileSystem>; total: number },
): Promise<void> {
  const made = () => [...systems.values()].reduce((sum, one) => sum + one.streams, 0)
  let progressAt = performance.now()
  for (let round = 0; made() < total; round++) {
    const before = made()
    for (const code of systems.keys()) {
      await send(report, target, 'PATCH', `/api/admin/manufacturers/${code}/`, { config: { timeout: 5 + (round % 2) } })
    }
    await sleep(300)
    if (made() > before) progressAt = performance.now()
    if (performance.now() - progressAt > 20_000)
      return complain(report, `only ${made()} of ${total} streams were opened`)
  }
  await send(report, target, 'GET', '/api/data.json')
}

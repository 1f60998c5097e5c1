/** Check Z3 of docs/reliability.md: hostile input at every trust boundary. */

import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { createTempFolder } from '../harness.ts'
import { atMost, type Check, expectNone } from './check.ts'
import { startHostileSite } from './fuzz/hostile-site.ts'
import { startHostilePlan, tryDestinations, tryPhotos, trySecrets } from './fuzz/outbound.ts'
import { createRandom } from './fuzz/random.ts'
import { addProblem, createReport } from './fuzz/report.ts'
import { type Attack, tryAudit, tryJson, tryShares, trySpellings } from './fuzz/shares.ts'
import { signInAsAdmin, startService } from './service.ts'

const requestLimit = 30

export const boundaries: Check = {
  id: 'Z3',
  group: 'fuzz',
  description: 'messages of sites, spellings, audit log, shares, JSON values, moved secrets and destinations',
  isQuick: true,
  async run(atEnd, { isQuick, seed, log }) {
    const report = createReport(seed)
    const site = await startHostileSite(seed, isQuick ? 20 : 100)
    atEnd(site.close)
    const plan = await startHostilePlan(atEnd)
    const service = await startService(atEnd, await createTempFolder(atEnd), {
      manufacturers: [{ code: 'site', plugin: 'micwatch', config: { api_base_url: site.url } }],
      planning_center_url: plan.url,
    })
    const { headers: admin } = await signInAsAdmin(service)
    const tokenOf = async (role: string) => {
      const { json } = await service.post('/api/admin/tokens/', { name: role, role }, admin)
      return { authorization: `Bearer ${json.token}` }
    }
    const roles = { admin, operator: await tokenOf('operator'), viewer: await tokenOf('viewer') }
    const attack: Attack = { service, ...roles, random: createRandom(seed) }
    const page = new WebSocket(`${service.address.replace(/^http/, 'ws')}/ws`, { headers: admin })
    page.on('error', () => {})
    atEnd(() => page.terminate())

    const limit = { max_requests: requestLimit, window_seconds: 60, overrides: {} }
    const limited = await startService(atEnd, await createTempFolder(atEnd), { rate_limit: limit })
    await trySpellings(report, limited, requestLimit)
    await tryAudit(report, attack)
    await trySecrets(report, attack, atEnd)
    await tryDestinations(report, attack)
    await tryPhotos(report, attack, plan.requests)
    await tryShares(report, attack)
    const ratio = await tryJson(report, attack)
    for (let waitedMs = 0; site.left > 0 && waitedMs < 30_000; waitedMs += 100) await sleep(100)
    if (site.left > 0) addProblem(report, `the site could not send ${site.left} messages`)

    for (const path of ['/healthz', '/api/data.json', '/api/receivers/', '/api/alerts/']) {
      const { status } = await service.get(path, admin)
      if (status !== 200) addProblem(report, `${path} returned ${status}`)
    }
    if (page.readyState !== WebSocket.OPEN) addProblem(report, 'the WebSocket of an open page was closed')
    log(`  seed ${seed}; ${[...report.counts].map(([kind, count]) => `${kind}: ${count}`).join(', ')}`)
    return [
      expectNone('problems', [...report.problems, ...findLoggedErrors(service.log())], log),
      atMost('refusing hostile JSON', ratio, 2, '× a harmless request'),
    ]
  },
}

function findLoggedErrors(logged: string): string[] {
  return logged.split('\n').filter((line) => line.includes('request failed') || line.includes('"level":60'))
}

import { afterEach, describe, expect, test } from 'vitest'
import { startSennheiserSimulator } from '../../../simulators/sennheiser/system.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { describePlugin } from '../../../test/support/plugins/plugin-kit.ts'
import { serveHttp } from '../../../test/support/plugins/plugin-kit-server.ts'
import { createUpstreamClient } from '../../upstream/client.ts'
import type { PushEvent, SubscriptionTargets } from '../plugin.ts'
import { sennheiser, system } from './index.ts'

describePlugin({
  plugin: sennheiser,
  startSimulator: startSennheiserSimulator,
  fixtures: new URL('./fixtures/', import.meta.url),
})

const resources: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of resources.splice(0).toReversed()) await resource.close()
})

function connect(config: Record<string, unknown>) {
  const [settings] = sennheiser.listSources({ ...config, timeout: 20 })
  if (settings === undefined) throw new Error('The configuration names no source.')
  const client = createUpstreamClient({ settings, errors: sennheiser.errors })
  resources.push(client)
  return client
}

async function start(options: Parameters<typeof startSennheiserSimulator>[0] = {}) {
  const simulator = await startSennheiserSimulator({ pushesPerSecond: 0, receivers: 2, ...options })
  resources.push(simulator)
  return simulator
}

/** Creates subscription targets that the test changes with `set`. */
function createTargets(first: readonly string[]) {
  let ids = first
  const waiting = new Set<() => void>()
  const targets: SubscriptionTargets = {
    ids: () => ids,
    changed: (signal) =>
      new Promise((resolve, reject) => {
        waiting.add(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const set = (next: readonly string[]) => {
    ids = next
    for (const resolve of waiting) resolve()
    waiting.clear()
  }
  return { targets, set }
}

function subscribe(
  client: ReturnType<typeof createUpstreamClient>,
  targets: SubscriptionTargets,
  stop = new AbortController(),
) {
  const events = system.subscribe?.(client, targets, stop.signal)
  if (events === undefined) throw new Error('The adapter has no subscribe function.')
  resources.push({ close: () => stop.abort() })
  return events[Symbol.asyncIterator]()
}

async function drain(iterator: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await iterator.next()).done);
}

// Conformance: S-5.5.
test('rejects with 403 and the solution when third-party access is disabled, for polls and subscriptions', async () => {
  const simulator = await start({ access: false })
  const client = connect(simulator.config)
  const message = expect.stringMatching(/API access is disabled on the device or system/)
  await expect(system.listDevices(client)).rejects.toMatchObject({ status: 403, message })
  await expect(subscribe(client, createTargets([]).targets).next()).rejects.toMatchObject({ status: 403, message })
})

test('the subscription fails when third-party access is disabled', async () => {
  const simulator = await start()
  const iterator = subscribe(connect(simulator.config), createTargets([]).targets)
  await iterator.next()
  simulator.setAccess(false)
  await expect(drain(iterator)).rejects.toBeInstanceOf(sennheiser.errors.ApiError)
})

// Conformance: S-5.4.
test.each([{ username: 'bob' }, { USERNAME: 'bob' }])('always uses the user name api, despite %o', async (extra) => {
  const simulator = await start()
  const { devices } = await system.listDevices(connect({ ...simulator.config, ...extra }))
  expect(devices).toHaveLength(2)
})

describe('a subscription', () => {
  // Conformance: C-3.18.
  test('sends the list of subscribed devices, and again when it changes', async () => {
    const simulator = await start()
    const [first = '', second = ''] = simulator.show.devicesAt(0).map(({ device }) => device.id)
    const { targets, set } = createTargets([first])
    const iterator = subscribe(connect(simulator.config), targets)
    expect((await iterator.next()).value).toEqual({ type: 'open' })
    const nextReportId = async () => {
      const { value } = await iterator.next()
      return value.type === 'report' ? value.report.id : value
    }
    expect(await nextReportId()).toBe(first)
    set([first, second])
    expect(await nextReportId()).toBe(second)
    expect(simulator.requests.count(/subscriptions\/./, 'PUT')).toBe(2)
  })

  test('sends the list again if it changes during the request', async () => {
    const simulator = await start()
    const [first = '', second = ''] = simulator.show.devicesAt(0).map(({ device }) => device.id)
    const { targets, set } = createTargets([first])
    let calls = 0
    const changingTargets: SubscriptionTargets = {
      ...targets,
      ids() {
        const ids = targets.ids()
        if (++calls === 1) queueMicrotask(() => set([first, second]))
        return ids
      },
    }
    const iterator = subscribe(connect(simulator.config), changingTargets)
    const ids: string[] = []
    while (!ids.includes(second)) {
      const { value } = await iterator.next()
      if (value.type === 'report') ids.push(value.report.id)
    }
    expect(ids).toEqual([first, second])
  })

  test('fails if the list is rejected', async () => {
    const simulator = await start()
    const { targets, set } = createTargets([])
    const iterator = subscribe(connect(simulator.config), targets)
    await iterator.next()
    set(['nobody'])
    await expect(drain(iterator)).rejects.toMatchObject({ name: 'SennheiserApiError', status: 404 })
    await eventually(() => simulator.push.connections).toBe(0)
  })

  test.each([
    ['no JSON', 'oops'],
    ['no path', '{}'],
    ['a foreign system', '{"path":"http://elsewhere.example/api/ssc/state/subscriptions/1"}'],
    ['another resource', '{"path":"/api/v1/config"}'],
  ])('fails and sends no list after an open event with %s', async (_, data) => {
    const methods: unknown[] = []
    const server = await serveHttp({
      onRequest(request, response) {
        methods.push(request.method)
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`event: open\ndata: ${data}\n\n`)
      },
    })
    resources.push(server)
    const iterator = subscribe(connect({ api_base_url: server.url }), createTargets([]).targets)
    await expect(iterator.next()).rejects.toBeInstanceOf(sennheiser.errors.ApiError)
    expect(methods).toEqual(['GET'])
  })

  test('ends without an error on an abort during the request', async () => {
    const simulator = await start()
    simulator.setFault({ type: 'hang' }, { path: /subscriptions\/./ })
    const stop = new AbortController()
    const ended = drain(subscribe(connect(simulator.config), createTargets([]).targets, stop))
    await eventually(() => simulator.requests.count(/subscriptions\/./, 'PUT')).toBe(1)
    stop.abort()
    await ended
  })
})

test('ignores events that do not name a device', async () => {
  const simulator = await start()
  const { id } = simulator.show.devicesAt(0)[0]?.device ?? { id: '' }
  const iterator = subscribe(connect(simulator.config), createTargets([id]).targets)
  await iterator.next()
  await iterator.next()
  const malformed = { '/api/v1/devices/%': {}, '/api/v1/devices/a/b': {}, '/osc/version': '1', '/api/v1/devices/x': 7 }
  simulator.push.send(JSON.stringify(malformed))
  for (const _ of Object.keys(malformed)) expect((await iterator.next()).value.type).toBe('ignored')
  simulator.push.send(JSON.stringify({ '/api/v1/devices/a%20b': { status: 'offline' } }))
  expect((await iterator.next()).value).toMatchObject({ type: 'report', report: { id: 'a b', online: false } })
})

/** Statements of docs/conformance.md about the command line that no other test covers. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFor, createInstallation, startSennheiser, startShure, until, withoutPush } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { timeLimit } from './support/time-limit.ts'

const commands: Record<string, readonly string[]> = {
  serve: [
    '--config',
    '--host',
    '--port',
    '--mount',
    '--data-dir',
    '--database-url',
    '--redis-url',
    '--no-poll',
    '--demo',
    '--strict',
  ],
  poll_devices: ['--interval', '--once', '--manufacturer', '--continuous', '--dry-run'],
  check_api_health: ['--manufacturer'],
  check_connections: ['--manufacturer', '--alert'],
  realtime_status: ['--verbose', '--manufacturer', '--status'],
  add_shure_devices: ['--ips', '--cidr', '--remove', '--manufacturer'],
  start_shure_websocket: ['--manufacturer'],
  start_sse_subscriptions: ['--manufacturer'],
  create_admin: ['--username', '--password-stdin'],
  migrate: [],
  simulate: [],
  export: ['--output', '--with-secrets'],
  import: ['--dry-run'],
  backup: ['--force'],
  restore: ['--force'],
  nodes: [],
}

const runInBatches = async <T>(items: readonly T[], work: (item: T) => Promise<void>) => {
  for (let index = 0; index < items.length; index += 4) await Promise.all(items.slice(index, index + 4).map(work))
}

/** Time limit for tests that start the program many times. */

describe('every command', () => {
  // Conformance: S-1.15, C-9.4.
  it('exists under its name, also with hyphens, and its help lists its options', async () => {
    const installation = await createInstallation()
    const program = await installation.run(['--help'])
    await runInBatches(Object.entries(commands), async ([name, options]) => {
      expect(program.out).toContain(name)
      const { code, out, err } = await installation.run([name.replaceAll('_', '-'), '--help'])
      expect([name, code, err]).toEqual([name, 0, ''])
      for (const option of [...options, '--json', '--config', '--data-dir', '--database-url']) {
        expect([name, out]).toEqual([name, expect.stringContaining(option)])
      }
    })
  })

  // Conformance: C-9.7.
  it('accepts known manufacturers only, and reports others in one line', async () => {
    const shure = await startShure()
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const args = Object.keys(commands).filter((name) => commands[name]?.includes('--manufacturer'))
    await runInBatches(args, async (name) => {
      const addressArgs = name === 'add_shure_devices' ? ['--ips', '10.0.0.1'] : []
      const { code, out, err } = await installation.run([name, '--manufacturer', 'nobody', ...addressArgs])
      expect([name, code, out]).toEqual([name, 2, ''])
      expect([name, err]).toEqual([name, expect.stringMatching(/^[^\n]*nobody[^\n]*\n$/)])
    })
    expect(shure.requests.total).toBe(0)
  })
})

describe('one JSON document', () => {
  // Conformance: S-1.19, C-9.5, C-9.13.
  it('is the only content of standard output', async () => {
    const shure = withoutPush(await startShure())
    const sennheiser = withoutPush(await startSennheiser())
    const installation = await createInstallation({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    const nothing = { connecting: 0, connected: 0, disconnected: 0, error: 0, stopped: 0 }
    const check = await installation.run(['check_connections', '--json'])
    expect([check.code, check.err, check.json()]).toEqual([0, '', { counts: nothing, problems: [] }])
    const status = await installation.run(['realtime_status', '--json', '--status', 'connected'])
    expect([status.code, status.err, status.json()]).toEqual([0, '', { connections: [] }])
    const health = await installation.run(['check_api_health', '--json', '--manufacturer', 'shure'])
    expect(health.json()).toEqual({
      status: 'healthy',
      manufacturers: [
        { code: 'shure', status: 'healthy', base_url: shure.baseUrl, consecutive_failures: 0, error: null },
      ],
    })
    expect((await installation.run(['migrate', '--json'])).json()).toEqual({ applied: [] })
  })
})

describe.concurrent('poll_devices', () => {
  // Conformance: C-4.3.
  it('waits for the identities of its single poll, within the rate limit of the upstream', async () => {
    const rateLimit = { perSecond: 10, burst: 20 }
    const shure = withoutPush(await startShure({ receivers: 30, channelsPerReceiver: 1, rateLimit }))
    const installation = await createInstallation({ manufacturers: [{ code: 'shure', config: shure.config }] })
    const polled = await installation.run(['poll_devices', '--once', '--json'])
    expect(polled.json().manufacturers).toMatchObject([{ code: 'shure', devices: 30, created: 30, error: null }])
    expect(shure.requests.limited).toBe(0)
  })

  it('polls only the given manufacturer', async () => {
    const shure = withoutPush(await startShure())
    const sennheiser = withoutPush(await startSennheiser())
    const installation = await createInstallation({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    const { json } = await installation.run(['poll_devices', '--once', '--manufacturer', 'sennheiser', '--json'])
    expect(json().manufacturers.map(({ code }: { code: string }) => code)).toEqual(['sennheiser'])
    expect(shure.requests.total).toBe(0)
  })

  // Conformance: S-1.16, C-1.16.
  it('polls every 5 seconds by default, and at --interval whatever else is set', async () => {
    const slow = withoutPush(await startShure({ richList: true }))
    const fast = withoutPush(await startShure({ richList: true }))
    const list = '/api/v1/devices'
    const unset = await createInstallation({ manufacturers: [configFor(slow, { poll_interval: null })] })
    const configured = await createInstallation({ manufacturers: [configFor(fast, { poll_interval: 3600 })] })
    unset.start(['poll_devices'])
    configured.start(['poll_devices', '--interval', '1'])
    // The first request is sent twice: without credentials, and again with the response to the challenge.
    const polls = () => slow.requests.entries.filter(({ path, status }) => path === list && status === 200)
    await until('two polls have been sent', () => polls().length >= 2, 12_000)
    const [first = 0, second = 0] = polls().map(({ at }) => at)
    expect(second - first).toBeGreaterThan(3500)
    expect(second - first).toBeLessThan(5000 + timeLimit(500))
    await eventually(() => fast.requests.count(list)).toBeGreaterThanOrEqual(4)
  })

  // Conformance: C-1.16.
  it('uses the stored interval of the manufacturer, then its configuration, then the global one', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const installation = await createInstallation({
      settings: { DEFAULT_POLLING_INTERVAL: 33 },
      manufacturers: [configFor(shure, { poll_interval: 20 }), { ...configFor(shure), code: 'other', plugin: 'shure' }],
    })
    const service = await installation.serve(['--no-poll'])
    const interval = async (query = '') => (await service.get(`/api/config/${query}`)).json.polling_interval
    const store = (query: string, value: string) =>
      service.post(`/api/config/${query}`, { key: 'polling_interval', value })
    expect([await interval(), await interval('?manufacturer=shure')]).toEqual([33, 20])
    await store('', '44')
    expect([await interval(), await interval('?manufacturer=shure')]).toEqual([44, 20])
    await store('?manufacturer=shure', '11')
    expect([await interval(), await interval('?manufacturer=shure')]).toEqual([44, 11])
    expect(await interval('?manufacturer=other')).toBe(1)
  })
})

describe('the configuration', () => {
  // Conformance: C-1.1.
  it('from a flag has precedence over the environment, and the environment over the file', async () => {
    const installation = await createInstallation({
      server: { mount: '/from-file' },
      discovery_ranges: ['203.0.113.0/24'],
    })
    const addressOf = async (args: readonly string[], env: Record<string, string>) => {
      const { out, kill, ended } = await installation.serve(args, env)
      kill('SIGTERM')
      await ended
      return new URL(JSON.parse(out()).address).pathname.replace(/\/$/, '')
    }
    expect(await addressOf([], {})).toBe('/from-file')
    expect(await addressOf([], { MICWATCH_MOUNT: '/from-env' })).toBe('/from-env')
    expect(await addressOf(['--mount', '/from-flag'], { MICWATCH_MOUNT: '/from-env' })).toBe('/from-flag')
  })

  // Conformance: C-1.6, C-1.13.
  it('writes its manufacturers to the database at every start and leaves other manufacturers alone', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const installation = await createInstallation({
      manufacturers: [configFor(shure), { ...configFor(shure), code: 'old', plugin: 'shure' }],
    })
    expect((await installation.run(['poll_devices', '--once'])).code).toBe(0)
    expect(await readdir(join(installation.path, 'data'))).toContain('micwatch.db')
    const next = { manufacturers: [{ ...configFor(shure), name: 'Main Shure' }] }
    await installation.write('micwatch.yaml', JSON.stringify(next))
    const { json } = await installation.run(['check_api_health', '--json'])
    expect(
      json()
        .manufacturers.map(({ code }: { code: string }) => code)
        .sort(),
    ).toEqual(['old', 'shure'])
  })
})

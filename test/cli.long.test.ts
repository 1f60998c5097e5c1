/** The program as an operator runs it: arguments, exit code, standard output and standard error. */

import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import {
  configFor,
  createInstallation,
  deviceOf,
  startSennheiser,
  startShure,
  until,
  withoutPush,
} from './support/app.ts'
import { createEmptyDatabase } from './support/store/databases.ts'
import { timeLimit } from './support/time-limit.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>
type ProgramResult = Awaited<ReturnType<Installation['run']>>

/** Expects one matching line on standard error, nothing on standard output, and no stack trace. */
function expectError({ code, out, err }: ProgramResult, exitCode: number, message: RegExp): void {
  expect({ code, out, err }).toEqual({ code: exitCode, out: '', err: expect.stringMatching(message) })
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect(err).not.toMatch(/^\s+at |node:internal|\.[jt]s:\d+/m)
}

const mapInBatches = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = []
  for (let index = 0; index < items.length; index += 3)
    results.push(...(await Promise.all(items.slice(index, index + 3).map(work))))
  return results
}

describe('command-line arguments', () => {
  it('have help, accept hyphens or underscores, and include a version flag', async () => {
    const installation = await createInstallation()
    const commands = ['serve', 'poll_devices', 'check_api_health', 'simulate', 'migrate']
    const [program, version, ...helps] = await mapInBatches(
      [['--help'], ['--version'], ...commands.map((name) => [name.replaceAll('_', '-'), '--help'])],
      (args) => installation.run(args),
    )
    for (const name of commands) expect(program?.out).toContain(name)
    expect(version).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\S*( \([0-9a-f]{10}\))?\n$/) })
    for (const help of helps) expect(help).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/--json/) })
    for (const option of ['--interval', '--once', '--manufacturer', '--continuous', '--dry-run']) {
      expect(helps[1]?.out).toContain(option)
    }
    expect(await readdir(installation.path)).toEqual([])
  })

  // Conformance: C-1.17, C-9.6.
  it('are rejected with exit code 2 and one line when they are wrong', async () => {
    const installation = await createInstallation()
    await mapInBatches(
      [
        [[], /command/],
        [['nothing'], /nothing/],
        [['serv'], /serv.*Did you mean serve\?/],
        [['serve', '--nothing'], /--nothing/],
        [['serve', '--hots', '127.0.0.1'], /--hots.*Did you mean --host\?/],
        [['serve', '--port', '70000'], /--port.*65535/],
        [['serve', '--database-url', 'mysql://x'], /--database-url.*postgres/],
        [['poll_devices', '--interval', '0'], /--interval.*1 to 3600/],
        [['poll_devices', '--interval'], /--interval/],
        [['poll_devices', '--once', '--continuous'], /--continuous/],
        [['poll_devices', '--once', '--port', '0'], /--port cannot be combined with --once/],
        [['poll_devices', '--once', '--manufacturer', 'nobody'], /nobody/],
        [['check_api_health', '--manufacturer', 'nobody'], /nobody/],
      ] as const,
      async ([args, message]) => expectError(await installation.run(args), 2, message),
    )
  })
})

describe('the configuration', () => {
  // Conformance: S-1.7, C-1.3, C-1.14, C-1.24.
  it.each([
    ['an unknown key', 'server: {prot: 1}', /micwatch\.yaml: server\.prot: unknown key/],
    ['invalid YAML', 'server: {port: 1', /micwatch\.yaml: not valid YAML/],
    [
      'a site with the code local',
      'manufacturers: [{code: local, plugin: micwatch, config: {api_base_url: "http://x"}}]',
      /manufacturers\.0\.code: expected another code than local/,
    ],
    [
      'a file that is not UTF-8',
      Buffer.from('# caf\xe9', 'latin1'),
      /micwatch\.yaml: line 1 is not UTF-8; save the file/,
    ],
    ['a public URL with a path', 'server: {public_url: "https://a/b"}', /server\.public_url: .*write https:\/\/a, and/],
    ['an unknown plugin', 'manufacturers: [{code: acme}]', /manufacturers\.0\.plugin: No plugin found .*acme/],
    [
      'an unknown connection key',
      'manufacturers: [{code: shure, config: {api_url: "http://x"}}]',
      /micwatch\.yaml: manufacturers\.0\.config\.api_url: unknown key/,
    ],
    [
      'a setting in both forms',
      'manufacturers: [{code: shure, config: {TIMEOUT: 5, timeout: 6}}]',
      /manufacturers\.0\.config\.timeout: .*TIMEOUT/,
    ],
    ['an undefined variable', `data_dir: $\{MICWATCH_NOT_SET}`, /micwatch\.yaml: data_dir: .*MICWATCH_NOT_SET/],
  ])('is rejected with exit code 2 for %s', async (_, content, message) => {
    const installation = await createInstallation()
    await writeFile(join(installation.path, 'micwatch.yaml'), content)
    expectError(await installation.run(['serve', '--port', '0']), 2, message)
  })

  // Conformance: C-1.2.
  it('is named in the error when the file is missing, from the flag or from the environment', async () => {
    const installation = await createInstallation()
    expectError(await installation.run(['serve', '--config', 'none.yaml']), 2, /none\.yaml does not exist/)
    expectError(await installation.run(['serve'], { MICWATCH_CONFIG: 'none.yaml' }), 2, /none\.yaml/)
    expectError(await installation.run(['serve'], { MICWATCH_PORT: 'x' }), 2, /MICWATCH_PORT: expected a whole number/)
  })
})

describe('healthcheck', () => {
  // Conformance: C-26.13.
  it('exits with 0 only if the service responds at the address of its configuration', async () => {
    const port = await freePort()
    const installation = await createInstallation({ tls: 'auto', server: { port, mount: '/mic' } })
    expect((await installation.run(['healthcheck'])).code).toBe(1)
    const service = await installation.serve(['--port', String(port)])
    expect(await installation.run(['healthcheck', '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`https://127.0.0.1:${port}/mic`),
    })
    // Someone edits the file while the service runs.
    await installation.write('micwatch.yaml', `{ tls: auto, server: { port: ${port}, mount: /mic }, log: 5 }`)
    expect((await installation.run(['healthcheck'])).code).toBe(0)
    service.kill('SIGTERM')
    await service.ended
    expectError(await installation.run(['healthcheck']), 2, /log: expected/)
    await installation.write('micwatch.yaml', '')
    expectError(await installation.run(['healthcheck', '--port', '0']), 2, /chooses its port/)
  })
})

describe('config check', () => {
  // Conformance: C-26.9, C-26.12, C-26.19.
  it('exits with 0, or with 2 and every problem', async () => {
    const installation = await createInstallation()
    await writeFile(join(installation.path, 'micwatch.yaml'), 'server: {port: 8081}\n')
    expect(await installation.run(['config', 'check'])).toMatchObject({ code: 0, out: 'micwatch.yaml is valid.\n' })
    await writeFile(join(installation.path, 'provisioning.yaml'), 'users:\n  - {username: a, role: admn}\n')
    const content = `tls: {cert: none.pem, key: none.key}
rate_limit: {overrides: {POST /api/discovr/: {max_requests: 1, window_seconds: 1}}}
manufacturers:
  - code: shrue
  - code: shure
    config: {api_base_url: 5, timeout: x}
backup: {folder: none}
provisioning: provisioning.yaml
`
    await writeFile(join(installation.path, 'micwatch.yaml'), content)
    const { code, out } = await installation.run(['config', 'check', '--json', '--port', 'x'])
    expect(code).toBe(2)
    const { ok, problems } = JSON.parse(out) as { ok: boolean; problems: Record<string, unknown>[] }
    expect(ok).toBe(false)
    expect(problems.map(({ file, line, key, suggestion }) => [file, line, key, suggestion])).toEqual([
      [null, null, '--port', null],
      ['micwatch.yaml', 1, 'tls.cert', null],
      ['micwatch.yaml', 2, 'rate_limit.overrides', 'did you mean POST /api/discover/?'],
      ['micwatch.yaml', 4, 'manufacturers.0.plugin', 'did you mean shure?'],
      ['micwatch.yaml', 6, 'manufacturers.1.config.api_base_url', null],
      ['micwatch.yaml', 6, 'manufacturers.1.config.timeout', null],
      ['micwatch.yaml', 7, 'backup.folder', null],
      ['provisioning.yaml', 2, 'users.0', null],
      ['provisioning.yaml', 2, 'users.0.role', 'did you mean admin?'],
    ])
  })
})

describe('poll_devices', () => {
  // Conformance: C-26.3.
  it('serves its probes and metrics with --port, and only these', async () => {
    const shure = withoutPush(await startShure({ receivers: 1 }))
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const addressOf = (program: ReturnType<typeof installation.start>) =>
      until('the process listens', () => /are at (\S+)\/$/m.exec(program.err())?.[1])
    const poller = installation.start(['poll_devices', '--port', '0', '--mount', '/mics'])
    const address = await addressOf(poller)
    const statusOf = async (path: string) => (await fetch(address + path)).status
    await until('a cycle is counted', async () =>
      /^micwatch_polls_total\{.*source="shure:.*\} [1-9]/m.test(await (await fetch(`${address}/metrics`)).text()),
    )
    expect(await statusOf('/healthz')).toBe(200)
    await until('the process is ready', async () => (await statusOf('/readyz')) === 200)
    expect((await fetch(new URL('/healthz', address))).status).toBe(200)
    expect([await statusOf('/'), await statusOf('/api/receivers/'), await statusOf('/ws')]).toEqual([404, 404, 404])
    const conflict = await installation.run(['poll_devices', '--port', new URL(address).port])
    expectError(conflict, 1, /in use by another program/)
    const exposed = installation.start(['poll_devices', '--port', '0', '--host', '0.0.0.0'])
    const { port } = new URL(await addressOf(exposed))
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(401)
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
    for (const program of [poller, exposed]) {
      program.kill('SIGTERM')
      expect(await program.ended).toBe(0)
    }
  })

  // Conformance: S-1.15, C-9.8.
  it('polls once and reports what it found', async () => {
    const shure = withoutPush(await startShure({ receivers: 3 }))
    const sennheiser = withoutPush(await startSennheiser())
    const installation = await createInstallation({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    const cycle = (devices: number, created: number) => ({
      devices,
      created,
      updated: expect.any(Number),
      moved: 0,
      duplicates: devices - created,
      conflicts: 0,
      errors: 0,
      error: null,
      duration_ms: expect.any(Number),
    })
    const first = await installation.run(['poll-devices', '--once', '--json'])
    expect([first.code, first.err]).toEqual([0, ''])
    expect(first.json()).toEqual({
      manufacturers: [
        { code: 'sennheiser', ...cycle(2, 2) },
        { code: 'shure', ...cycle(3, 3) },
      ],
    })
    const second = await installation.run(['poll_devices', '--once', '--json', '--manufacturer', 'shure'])
    expect(second.json()).toEqual({ manufacturers: [{ code: 'shure', ...cycle(3, 0) }] })
    const table = await installation.run(['poll_devices', '--once'])
    expect(table).toMatchObject({ code: 0, out: expect.stringMatching(/ known .*shure.*3/s) })
    expect(table.out).not.toContain('duplicate')

    shure.setFault({ type: 'status', status: 403 })
    const failed = await installation.run(['poll_devices', '--once', '--json'])
    expect(failed.code).toBe(1)
    expect(failed.json().manufacturers).toMatchObject([
      { code: 'sennheiser', error: null },
      { code: 'shure', error: expect.stringContaining('API access is disabled') },
    ])
  })

  // Conformance: C-9.10.
  it('changes nothing with --dry-run', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    const nothing = await installation.run(['poll_devices', '--dry-run', '--once', '--json'])
    expect(nothing).toMatchObject({ code: 0, err: '' })
    expect(nothing.json().manufacturers).toMatchObject([{ code: 'shure', devices: 2, created: 2 }])
    expect(await readdir(installation.path)).toEqual(['micwatch.yaml'])

    await installation.run(['poll_devices', '--once'])
    shure.show.set(deviceOf(shure).id, { ip: '10.77.0.1' })
    shure.show.add('shure')
    for (let runs = 0; runs < 2; runs += 1) {
      const { json } = await installation.run(['poll_devices', '--dry-run', '--once', '--json'])
      expect(json().manufacturers).toMatchObject([{ devices: 3, created: 1, moved: 1 }])
    }
    expect((await installation.run(['poll_devices', '--once', '--json'])).json().manufacturers).toMatchObject([
      { created: 1, moved: 1 },
    ])
  })

  // Conformance: C-9.10.
  it('runs with --dry-run until it is stopped, beside a process that polls', async () => {
    const shure = withoutPush(await startShure({ richList: true }))
    const installation = await createInstallation({ manufacturers: [configFor(shure)] })
    await installation.run(['check_connections'])
    const dryRun = installation.start(['poll_devices', '--dry-run', '--json'])
    const last = () => JSON.parse(dryRun.lines().at(-1) ?? '')
    await until('three dry runs are reported', () => dryRun.lines().length >= 3, 20_000)
    expect(last()).toMatchObject({ dry_run: true, manufacturers: [{ code: 'shure', devices: 2, created: 2 }] })
    expect((await installation.run(['poll_devices', '--once', '--json'])).json().manufacturers[0].created).toBe(2)
    await until('the stored state is read', () => last().manufacturers[0].created === 0)
    dryRun.kill('SIGINT')
    expect([await dryRun.ended, dryRun.err()]).toEqual([0, ''])

    const continuous = installation.start(['poll_devices', '--dry-run', '--continuous', '--interval', '1'])
    await until('two dry runs are reported', () => continuous.lines().length >= 3)
    expect(continuous.lines()).toEqual([
      'Dry run: nothing is stored. Polls would find this:',
      ...Array.from({ length: continuous.lines().length - 1 }, () =>
        expect.stringMatching(/Z shure: 2 devices, 0 new/),
      ),
    ])
    continuous.kill('SIGTERM')
    expect(await continuous.ended).toBe(0)
  })

  // Conformance: C-9.10.
  it('runs with --dry-run on an empty PostgreSQL database and leaves it empty', async () => {
    const shure = withoutPush(await startShure())
    const { url, drop } = await createEmptyDatabase('postgres')
    onTestFinished(drop)
    const installation = await createInstallation({ database_url: url, manufacturers: [configFor(shure)] })
    const dryRun = await installation.run(['poll_devices', '--dry-run', '--once', '--json'])
    expect([dryRun.code, dryRun.err]).toEqual([0, ''])
    expect(dryRun.json().manufacturers).toMatchObject([{ created: 2 }])
    expect(await readdir(installation.path)).toEqual(['micwatch.yaml'])
  })
})

describe('check_api_health', () => {
  // Conformance: S-1.17, C-9.6, C-9.12.
  it('sends requests to the systems, and exits with 1 unless all are healthy', async () => {
    const shure = withoutPush(await startShure())
    const sennheiser = withoutPush(await startSennheiser())
    const installation = await createInstallation({ manufacturers: [configFor(shure), configFor(sennheiser)] })
    const healthy = await installation.run(['check-api-health', '--json'])
    expect([healthy.code, healthy.err]).toEqual([0, ''])
    const healthyEntry = (simulator: { manufacturer: string; baseUrl: string }) => ({
      code: simulator.manufacturer,
      status: 'healthy',
      base_url: simulator.baseUrl,
      consecutive_failures: 0,
      error: null,
    })
    expect(healthy.json()).toEqual({
      status: 'healthy',
      manufacturers: [healthyEntry(sennheiser), healthyEntry(shure)],
    })
    expect((await installation.run(['check_api_health'])).out).toMatch(/shure.*healthy/)

    shure.setFault({ type: 'reset' })
    const degraded = await installation.run(['check_api_health', '--json'])
    expect(degraded.code).toBe(1)
    const first = { status: 'degraded', consecutive_failures: 1, error: expect.any(String) }
    expect(degraded.json()).toMatchObject({ status: 'degraded', manufacturers: [{ status: 'healthy' }, first] })
    expect(degraded.err).toMatch(/^shure: .+\n$/)
    expect(await installation.run(['check_api_health', '--json', '--manufacturer', 'sennheiser'])).toMatchObject({
      code: 0,
    })
    expect(await installation.run(['check_api_health', '--manufacturer', 'shure'])).toMatchObject({ code: 1 })
    // A failed check alone results in `degraded`; after three failed polls, it results in `unhealthy`. A successful
    // check results in `healthy` at once.
    const poller = installation.start(['poll_devices', '--manufacturer', 'shure'])
    await until('three polls have failed', () => poller.lines().length >= 3, 30_000)
    poller.kill('SIGTERM')
    await poller.ended
    const unhealthy = await installation.run(['check_api_health', '--json', '--manufacturer', 'shure'])
    expect(unhealthy.json()).toMatchObject({
      status: 'unhealthy',
      manufacturers: [{ status: 'unhealthy', error: expect.any(String) }],
    })
    expect((await installation.run(['check_api_health', '--json'])).json().status).toBe('degraded')
    shure.setFault(null)
    expect((await installation.run(['check_api_health', '--json'])).json().status).toBe('healthy')
  })
})

describe('migrate, simulate, serve', () => {
  // Conformance: C-9.18.
  it('migrates the database once', async () => {
    const installation = await createInstallation()
    const first = await installation.run(['migrate', '--json'])
    expect(first.code).toBe(0)
    expect(first.json().applied.length).toBeGreaterThan(0)
    expect((await installation.run(['migrate', '--json'])).json()).toEqual({ applied: [] })
    expectError(
      await installation.run(['migrate', '--database-url', 'postgres://x@127.0.0.1:1/x']),
      1,
      /127\.0\.0\.1:1|ECONN/,
    )
    await installation.write('file', '')
    expectError(await installation.run(['migrate', '--data-dir', 'file/data']), 1, /file\/data/)
  })

  // Conformance: C-9.18.
  it('simulates a venue that another service can monitor', async () => {
    const installation = await createInstallation()
    const simulate = installation.start(['simulate', '--json', '--receivers', '4'])
    const { manufacturers } = await until('the simulator is running', () => JSON.parse(simulate.out()))
    expect(manufacturers.map(({ code }: { code: string }) => code)).toEqual(['shure', 'sennheiser'])
    await installation.write('micwatch.yaml', JSON.stringify({ manufacturers }))
    const polled = await installation.run(['poll_devices', '--once', '--json'])
    expect(polled.json().manufacturers.map(({ created }: { created: number }) => created)).toEqual([1, 3])
    simulate.kill('SIGTERM')
    expect(await simulate.ended).toBe(0)
  })

  // Conformance: C-9.3.
  it('serves a demo that leaves no files behind', async () => {
    const installation = await createInstallation()
    const demo = await installation.serve(['--demo', '--receivers', '6'])
    await until('six receivers are listed', async () => (await demo.receivers()).length === 6)
    const socket = await demo.socket()
    await socket.next(({ type }) => type === 'device_update')
    expect(JSON.parse(demo.out())).toMatchObject({ address: expect.stringMatching(/^http:/), pid: demo.pid })
    demo.kill('SIGTERM')
    expect([await demo.ended, await socket.closed]).toEqual([0, 1001])
    expect(demo.err()).toBe('')
    expect(await readdir(installation.path)).toEqual([])
  })

  it('reports that the port is in use, and changes nothing', async () => {
    const installation = await createInstallation()
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await until('the service listens', () => server.listening)
    const { port } = server.address() as { port: number }
    const startedAt = performance.now()
    const result = await installation.run(['serve', '--port', String(port)])
    expectError(result, 1, new RegExp(`127\\.0\\.0\\.1:${port}`))
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5000))
    expect(await readdir(installation.path)).toEqual([])
  })
})

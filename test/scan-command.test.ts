/** `micwatch scan` with simulated analysers: over TCP, at a pseudoterminal, and as a program. */

import { spawn } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type RfExplorerOptions, startRfExplorer } from '../simulators/analysers/rf-explorer.ts'
import { startTinysa, type TinysaOptions } from '../simulators/analysers/tinysa.ts'
import { createInstallation, startApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

const carriers = [
  { mhz: 474.5, dbm: -41 },
  { mhz: 478.1, dbm: -63 },
]
const span = ['--from', '470', '--to', '480', '--step', '25']

async function tinysa(options: TinysaOptions = {}) {
  const simulator = await startTinysa({ carriers, ...options })
  onTestEnd(() => simulator.tcp.close())
  return simulator
}

async function rfExplorer(options: RfExplorerOptions = {}) {
  const simulator = await startRfExplorer({ carriers, ...options })
  onTestEnd(() => simulator.tcp.close())
  return simulator
}

type App = Awaited<ReturnType<typeof startApp>>

async function startScan(app: { readonly url: string }, args: readonly string[], env: Record<string, string> = {}) {
  const [kind = '', ...options] = args
  const installation = await createInstallation()
  return installation.start(['scan', kind, '--url', app.url, ...options], env)
}

/** Returns the sweeps of a source, once there are some. */
const sweepsOf = (app: App, source: string) =>
  until(`sweeps of ${source}`, async () => {
    const { status, json } = await app.get(`/api/sweeps/${source}/`)
    return status === 200 && json
  })

const levelsAt = (
  { from_mhz, step_mhz, last }: { from_mhz: number; step_mhz: number; last: readonly (number | null)[] },
  mhz: readonly number[],
) => mhz.map((one) => last[Math.round((one - from_mhz) / step_mhz)])

const interrupt = async (scan: Awaited<ReturnType<typeof startScan>>) => {
  scan.kill('SIGINT')
  return { code: await scan.ended, out: scan.out(), err: scan.err() }
}

describe.concurrent('micwatch scan tinysa', () => {
  // Conformance: C-23.70.
  it.each(['ultra', 'basic'] as const)(
    'pushes the sweeps of a tinySA (%s), and ends a sweep at Ctrl+C',
    async (model) => {
      const app = await startApp()
      const analyser = await tinysa({ model, isLeftSweeping: true, block: { points: 50, ms: 20 } })
      const scan = await startScan(app, ['tinysa', '--port', analyser.tcp.url, ...span, '--source', 'roof'])
      const found = await sweepsOf(app, 'roof')
      expect(found).toMatchObject({ from_mhz: 470, step_mhz: 0.025, calibrated: true })
      expect(found.last).toHaveLength(401)
      expect(levelsAt(found, [470, 474.5, 478.1, 480])).toEqual([-104, -41, -63, -104])
      await until('it sweeps', () => analyser.isSweeping)
      const ended = await interrupt(scan)
      expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(/^Sent \d+ sweeps to http.* as roof\.\n$/) })
      expect(ended.err).toMatch(/^micwatch: tinySA.* is connected\. Ctrl\+C ends the scan\.\n$/)
      await until('it was released', () => !analyser.isSweeping && analyser.tcp.clients === 0)
      const input = model === 'basic' ? ['mode high input'] : []
      const commands = ['version', ...input, 'rbw 30', 'zero', 'scanraw 470000000 480025000 401']
      expect(analyser.received.filter((command) => command !== '' && command !== 'abort')).toEqual(
        expect.arrayContaining(commands),
      )
      expect(analyser.received.slice(-2)).toEqual(['abort', 'rbw auto'])
    },
  )

  // Conformance: C-23.71.
  it('leaves out a sweep that a touch on the screen has ended', async () => {
    const app = await startApp()
    const analyser = await tinysa({ block: { points: 20, ms: 20 } })
    const scan = await startScan(app, ['tinysa', '--port', analyser.tcp.url, ...span, '--json'])
    await until('it sweeps', () => analyser.isSweeping)
    analyser.touch()
    await until('it says so', () => scan.err().includes('ended a sweep early, as it does when its screen is touched'))
    expect(levelsAt(await sweepsOf(app, 'tinysa'), [480])).toEqual([-104])
    const { code, out } = await interrupt(scan)
    expect([code, JSON.parse(out)]).toEqual([0, { source: 'tinysa', url: `${app.url}/`, sweeps: expect.any(Number) }])
  })

  // Conformance: C-23.72.
  it('connects again after the analyser was unplugged, and says so once', async () => {
    const app = await startApp()
    const analyser = await tinysa()
    const scan = await startScan(app, ['tinysa', '--port', analyser.tcp.url, ...span])
    await sweepsOf(app, 'tinysa')
    await until('it sweeps', () => analyser.isSweeping)
    analyser.tcp.unplug(true)
    await until('it says so', () => scan.err().includes('Waiting for the analyser.'))
    // At least one attempt fails.
    await new Promise((resolve) => setTimeout(resolve, 2500))
    analyser.tcp.plugIn()
    const before = analyser.sweeps
    await until('it sweeps again', () => analyser.sweeps > before)
    const { code, err } = await interrupt(scan)
    expect(code).toBe(0)
    expect(err.match(/Waiting for the analyser/g)).toHaveLength(1)
    expect(err).toContain('tinySA Ultra is connected again.')
  })

  // Conformance: C-23.73.
  it.each([
    [
      ['--from', '470', '--to', '7000', '--step', '500'],
      2,
      'tinySA Ultra measures 0.1 to 6000 MHz, not 470 to 7000 MHz',
    ],
    [['--from', '480', '--to', '470'], 2, '--to: expected more than 480 MHz, found 470 MHz'],
    [
      ['--from', '470', '--to', '700', '--step', '1'],
      2,
      '--step: 1 kHz makes 230001 points; at most 20000 are accepted',
    ],
    [['--from', '470', '--to', '700', '--step', '900'], 2, 'tinySA Ultra has bandwidths up to 600 kHz'],
    [['--from', '470', '--to', 'x'], 2, 'Expected a number above 0, up to 30000.'],
    [['--from', '470'], 2, "required option '--to <MHz>' not specified"],
  ])('refuses %j by name', async (args, code, message) => {
    const analyser = await tinysa()
    const installation = await createInstallation()
    const result = await installation.run(['scan', 'tinysa', '--port', analyser.tcp.url, ...args])
    expect([result.code, result.out, result.err]).toEqual([code, '', expect.stringContaining(message)])
    expect(analyser.received.filter((command) => command.startsWith('scanraw'))).toEqual([])
  })

  // Conformance: C-23.73.
  it('refuses what is no tinySA, ports that do not exist, and spans on both sides of the inputs', async () => {
    const installation = await createInstallation()
    const run = (port: string, ...args: string[]) => installation.run(['scan', 'tinysa', '--port', port, ...args])
    const explorer = await rfExplorer()
    expect(await run(explorer.tcp.url, ...span)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/not a tinySA/),
    })
    const basic = await tinysa({ model: 'basic' })
    const both = await run(basic.tcp.url, '--from', '200', '--to', '400')
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('not both in one sweep') })
    const absent = await run('/dev/ttyMicwatch', ...span)
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('/dev/ttyMicwatch: there is no such port') })
    const unreachable = await run('tcp://127.0.0.1:1', ...span)
    expect(unreachable).toMatchObject({ code: 1, err: expect.stringContaining('tcp://127.0.0.1:1: ECONNREFUSED') })
    expect(await run('http://127.0.0.1', ...span)).toMatchObject({
      code: 2,
      err: expect.stringContaining('tcp://host:port'),
    })
  })

  // Conformance: C-23.70.
  it('opens a serial port', async () => {
    const app = await startApp()
    const analyser = await tinysa()
    const path = await openPseudoterminal((stream) => analyser.serve(stream))
    const scan = await startScan(app, ['tinysa', '--port', path, ...span])
    expect(levelsAt(await sweepsOf(app, 'tinysa'), [474.5])).toEqual([-41])
    expect((await interrupt(scan)).code).toBe(0)
    await until('it was released', () => analyser.received.at(-1) === 'rbw auto')
  })
})

describe.concurrent('micwatch scan rfexplorer', () => {
  // Conformance: C-23.74.
  it.each(['S', 's', 'z'] as const)('pushes sweeps in pieces, without the first after tuning ($%s)', async (header) => {
    const app = await startApp()
    const analyser = await rfExplorer({ header, maxSpanKhz: 4000 })
    const scan = await startScan(app, ['rfexplorer', '--port', analyser.tcp.url, ...span.slice(0, 4), '--step', '100'])
    const found = await sweepsOf(app, 'rfexplorer')
    expect(found).toMatchObject({ from_mhz: 470, step_mhz: 0.1, calibrated: true })
    expect(found.last).toHaveLength(101)
    expect(found.last).not.toContain(null)
    expect(levelsAt(found, [470, 474.5, 478.1, 480])).toEqual([-104, -41, -63, -104])
    expect((await interrupt(scan)).code).toBe(0)
    await until('it is held', () => analyser.isHeld && analyser.received.at(-1) === 'CH')
    expect(analyser.received.slice(0, 4)).toEqual([
      'C0',
      'C2-F:0470000,0473333,-010,-120',
      'C2-F:0473333,0476667,-010,-120',
      'C2-F:0476667,0480000,-010,-120',
    ])
  })

  // Conformance: C-23.74.
  it('leaves a range alone that the device has already, and sends at most four sweeps a second', async () => {
    const app = await startApp()
    const analyser = await rfExplorer({ lowestKhz: 470_000, highestKhz: 480_000, sweepMs: 5 })
    const scan = await startScan(app, ['rfexplorer', '--port', analyser.tcp.url, ...span.slice(0, 4), '--step', '100'])
    const first = await sweepsOf(app, 'rfexplorer')
    await until('a later sweep', async () => (await sweepsOf(app, 'rfexplorer')).at !== first.at)
    const { code, err } = await interrupt(scan)
    expect([code, err]).toEqual([0, 'micwatch: RF Explorer is connected. Ctrl+C ends the scan.\n'])
  })

  // Conformance: C-23.73.
  it('refuses other modes, other devices and other ranges', async () => {
    const installation = await createInstallation()
    const run = (port: string, ...args: string[]) => installation.run(['scan', 'rfexplorer', '--port', port, ...args])
    const generator = await rfExplorer({ mode: 'generator' })
    expect(await run(generator.tcp.url, ...span)).toMatchObject({
      code: 1,
      err: expect.stringContaining('in another mode'),
    })
    const other = await tinysa()
    expect(await run(other.tcp.url, ...span)).toMatchObject({
      code: 1,
      err: expect.stringContaining('not an RF Explorer'),
    })
    const analyser = await rfExplorer()
    const outside = await run(analyser.tcp.url, '--from', '100', '--to', '200')
    expect(outside).toMatchObject({
      code: 2,
      err: expect.stringContaining('measures 240 to 960 MHz, not 100 to 200 MHz'),
    })
  })
})

describe.concurrent('micwatch scan and the service', () => {
  // Conformance: C-23.75.
  it('needs a token of an operator where login is required', async () => {
    const app = await startApp({ config: { require_login: true } })
    const analyser = await tinysa()
    const tokens = await Promise.all(
      (['viewer', 'operator'] as const).map(async (role) =>
        String((await tokenHeaders(app, role)).authorization).replace('Bearer ', ''),
      ),
    )
    const installation = await createInstallation()
    const args = ['scan', 'tinysa', '--url', app.url, '--port', analyser.tcp.url, ...span]
    expect(await installation.run(args)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--token or MICWATCH_TOKEN'),
    })
    expect(await installation.run([...args, '--token', tokens[0] ?? ''])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Sweeps need the token of an operator'),
    })
    const scan = await startScan(app, ['tinysa', '--port', analyser.tcp.url, ...span], {
      MICWATCH_TOKEN: tokens[1] ?? '',
    })
    const headers = { authorization: `Bearer ${tokens[1]}` }
    await until('sweeps', async () => (await app.get('/api/sweeps/tinysa/', headers)).status === 200)
    expect((await interrupt(scan)).code).toBe(0)
  })

  // Conformance: C-23.75.
  it('says which source is one too many, and that no service responds', async () => {
    const app = await startApp()
    for (let source = 1; source <= 8; source += 1) {
      const body = { source: String(source), mhz_from: 470, mhz_step: 1, dbm: [-90, -91] }
      expect((await app.post('/api/sweeps/', body)).status).toBe(201)
    }
    const analyser = await tinysa()
    const installation = await createInstallation()
    const args = ['scan', 'tinysa', '--port', analyser.tcp.url, ...span]
    expect(await installation.run([...args, '--url', app.url])).toMatchObject({
      code: 1,
      err: expect.stringContaining('at most 8 sources are kept'),
    })
    expect(await installation.run([...args, '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('The service does not respond at http://127.0.0.1:1/'),
    })
  })

  // Conformance: C-23.72.
  it('goes on after the service was restarted', async () => {
    const installation = await createInstallation()
    const first = await installation.serve()
    const url = `http://127.0.0.1:${first.port}/`
    const analyser = await tinysa()
    const scan = await startScan({ url }, ['tinysa', '--port', analyser.tcp.url, ...span])
    await until('sweeps', async () => (await first.get('/api/sweeps/tinysa/')).status === 200)
    first.kill('SIGTERM')
    await first.ended
    await until('it says so', () => scan.err().includes('Sweeps are left out until'))
    const second = await installation.serve(['--port', String(first.port)])
    // Not by asking for sweeps, because all requests of an address have a common limit.
    await until('it says so', () => scan.err().includes('The service accepts sweeps again.'))
    await until('sweeps', async () => (await second.get('/api/sweeps/tinysa/')).status === 200)
    const { code, err } = await interrupt(scan)
    expect([code, err.match(/left out/g)]).toEqual([0, ['left out']])
  })
})

describe.concurrent('micwatch scan rtl_power', () => {
  const rtlPower = fileURLToPath(new URL('./support/rtl-power-child.ts', import.meta.url))
  const own = ['--', '-f', '470M:474M:25k', '-i', '1']

  /** Returns a path whose first program is the simulator. */
  async function withRtlPower() {
    const { path } = await createInstallation()
    await writeFile(
      join(path, 'rtl_power'),
      `#!/bin/sh\nexec '${process.execPath}' --import '${import.meta.resolve('tsx')}' '${rtlPower}' "$@"\n`,
    )
    await chmod(join(path, 'rtl_power'), 0o755)
    return { PATH: `${path}:${process.env.PATH}` }
  }

  // Conformance: C-23.76.
  it('sends the rows as they come, and ends the program at Ctrl+C', async () => {
    const app = await startApp()
    const scan = await startScan(app, ['rtl_power', '--source', 'stick', '--json', ...own], await withRtlPower())
    const found = await sweepsOf(app, 'stick')
    expect(found).toMatchObject({ from_mhz: 470, step_mhz: 0.025, calibrated: false })
    const { code, out, err } = await interrupt(scan)
    expect([code, JSON.parse(out)]).toEqual([0, { source: 'stick', url: `${app.url}/`, rows: expect.any(Number) }])
    expect(err).toBe('micwatch: rtl_power is running. Ctrl+C ends the scan.\n')
  })

  // Conformance: C-23.76.
  it('says why the program ends, that it is missing, and that the service refuses', async () => {
    const app = await startApp({ config: { require_login: true } })
    const installation = await createInstallation()
    const env = await withRtlPower()
    const args = ['scan', 'rtl_power', '--url', app.url, ...own]
    const run = (more: Record<string, string>) => installation.run(args, { ...env, ...more })
    expect(await run({ RTL_POWER_FAULT: 'no-device' })).toMatchObject({
      code: 1,
      err: 'micwatch: rtl_power ended with exit code 1: No supported devices found.\n',
    })
    expect(await run({ PATH: installation.path })).toMatchObject({ code: 1, err: expect.stringContaining('rtl-sdr') })
    expect(await run({})).toMatchObject({ code: 1, err: expect.stringContaining('--token or MICWATCH_TOKEN') })
    expect(await installation.run(['scan', 'rtl_power'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("missing required argument 'arguments'"),
    })
  })

  // Conformance: C-23.72.
  it('starts the program again after it was unplugged', async () => {
    const app = await startApp()
    const env = { ...(await withRtlPower()), RTL_POWER_FAULT: 'unplugged' }
    const scan = await startScan(app, ['rtl_power', ...own], env)
    await until('it says so', () => scan.err().includes('ended with exit code 1: WARNING: bad retune.'))
    await until('it runs again', () => scan.err().includes('rtl_power is running again.'))
    expect((await interrupt(scan)).code).toBe(0)
  })
})

/** Returns the path of a pseudoterminal whose other side is given to `serve`. */
async function openPseudoterminal(serve: (stream: Duplex) => void): Promise<string> {
  const child = spawn('script', ['-qfec', 'stty raw -echo; tty; exec sleep 600', '/dev/null'])
  onTestEnd(() => void child.kill('SIGKILL'))
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin })
  const [path] = await until('the pseudoterminal is open', async () => {
    const bytes = child.stdout.read()
    return bytes !== null && /\/dev\/pts\/\d+/.exec(String(bytes))
  })
  serve(stream)
  return path
}

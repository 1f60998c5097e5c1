/** Captures of every family: recorded by the service, without private values, and replayed to the same readings. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startAudioTechnicaSimulator } from '../simulators/audio_technica/receivers.ts'
import { startClearcomSimulator } from '../simulators/clearcom/station.ts'
import { startDpaSimulator } from '../simulators/dpa/ndr1.ts'
import { startLectrosonicsSimulator } from '../simulators/lectrosonics/dsqd.ts'
import { startMcpSimulator } from '../simulators/sennheiser/mcp.ts'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import type { SscModel } from '../simulators/sennheiser/ssc1-values.ts'
import { type Ssc2SimulatorOptions, startSsc2Simulator } from '../simulators/sennheiser/ssc2.ts'
import { startWsmSimulator } from '../simulators/sennheiser/wsm.ts'
import { startChargerSimulator } from '../simulators/shure/strings/charger.ts'
import { type StringsSimulatorOptions, startStringsSimulator } from '../simulators/shure/strings.ts'
import { replayCapture } from '../src/manufacturers/replay.ts'
import { isExchange, parseCapture } from '../src/upstream/capture/capture-file.ts'
import { createInstallation, startApp, startSennheiser, startShure, startSystemApi, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { tokenHeaders } from './support/tokens.ts'

interface Simulator {
  close(): Promise<unknown>
  readonly url?: string
  readonly config?: object
}

const secret = 'backstage-password-7'
const activationCode = 'NOT-A-REAL-CODE'
/** A replay is timed as the adapter is, so a busy process would disturb it. */
let lastReplay: Promise<unknown> = Promise.resolve()
function replayAlone(capture: Parameters<typeof replayCapture>[0]) {
  const replay = lastReplay.then(() => replayCapture(capture))
  lastReplay = replay.catch(() => {})
  return replay
}
const device = (code: string, start: () => Promise<Simulator>, config: object = {}) => ({ code, start, config })

const shureStrings = (family: StringsSimulatorOptions['family']) =>
  device('shure', () => startStringsSimulator({ family }))
const ssc1 = (model: SscModel, values: Readonly<Record<string, unknown>> = {}) =>
  device('sennheiser', () => startSsc1Simulator({ model, values }))
/** By default, channels have the names of their branches, which stay where they are no names. */
const mcrNames = Object.fromEntries(
  ['Nora', 'Emil', 'Ida', 'Finn'].map((name, index) => [`/rx${index + 1}/name`, name]),
)
const ssc2 = (product: Ssc2SimulatorOptions['product']) =>
  device('sennheiser', () => startSsc2Simulator({ password: secret, product }), { password: secret })
/** The kinds of devices take turns. */
const audioTechnica = (firstNumber: number) =>
  device('audio_technica', () => startAudioTechnicaSimulator({ receivers: 1, firstNumber }))
const clearcom = (firstNumber: number) =>
  device('clearcom', () => startClearcomSimulator({ password: secret, firstNumber }), { password: secret })

const families: Readonly<Record<string, ReturnType<typeof device>>> = {
  'ULX-D': shureStrings('ulxd'),
  'QLX-D': shureStrings('qlxd'),
  'SLX-D': shureStrings('slxd'),
  'SLX-D+': shureStrings('slxd+'),
  'Axient Digital': shureStrings('ad'),
  ANX4: shureStrings('anx4'),
  'PSM 1000': shureStrings('psm1000'),
  'UHF-R': shureStrings('uhfr'),
  MXW: shureStrings('mxw'),
  'MXW neXt': shureStrings('mxwnext'),
  SBC220: device('shure', () => startChargerSimulator({ model: 'SBC220', name: 'Charger left', bays: [80, null] })),
  'Shure device API': device('shure', () => startShure()),
  'System API': device('shure', () => startSystemApi()),
  'Sennheiser device API': device('sennheiser', () => startSennheiser()),
  'EW-DX (SSC 1)': ssc1('EWDXEM2'),
  'Digital 6000': ssc1('EM6000'),
  'SL MCR 4 DW': ssc1('SLDW4CH', mcrNames),
  'SL Rack Receiver DW': ssc1('SLDW'),
  'CHG 70N': ssc1('CHG70N'),
  'CHG 4N': ssc1('CHG4N'),
  'L 6000': ssc1('L6000'),
  'EW-DX (SSC 2)': ssc2('EWDX2CHS'),
  Spectera: ssc2('Spectera Base Station'),
  'ew G4 (MCP)': device('sennheiser', () => startMcpSimulator({ host: '127.0.0.8' })),
  'ew G4 IEM (MCP)': device('sennheiser', () => startMcpSimulator({ host: '127.0.0.10', kind: 'SR' })),
  'EM 300 G3 (WSM)': device('sennheiser', () => startWsmSimulator({ host: '127.0.0.9' })),
  DSQD: device('lectrosonics', () => startLectrosonicsSimulator()),
  'System 20 PRO': audioTechnica(1),
  ESW: audioTechnica(2),
  'ESW charger': audioTechnica(3),
  'N-DR1': device('dpa', () => startDpaSimulator()),
  Arcadia: clearcom(1),
  'FreeSpeak II Base II': clearcom(2),
}

async function startFor({ code, start, config }: ReturnType<typeof device>) {
  const simulator = await start()
  onTestEnd(() => simulator.close())
  const { ssl_verify: _, ...configured } = { ssl_verify: true, ...simulator.config }
  const [first] = 'devices' in configured ? (configured.devices as string[]) : [simulator.url]
  const source = 'api_base_url' in configured ? configured : { ...config, devices: [first] }
  const app = await startApp({ manufacturers: [{ code, config: source }], config: { require_login: true } })
  const admin = await tokenHeaders(app, 'admin')
  const address = 'api_base_url' in configured ? String(configured.api_base_url) : String(first)
  const receivers = await until('the receivers are known', async () => {
    const found = (await app.get('/api/data.json', admin)).json.receivers
    return found.length > 0 && found
  })
  const secrets = Object.entries(configured).filter(([key]) => /password|key/.test(key))
  const values = secrets.map(([, value]) => String(value))
  return { app, admin, address, receivers, simulator, secrets: [secret, activationCode, ...values] }
}

/** Names, serial numbers and MAC addresses, and IP addresses that are not those of this machine. */
function listPrivate(value: unknown, key = ''): string[] {
  if (typeof value === 'string') {
    const isPrivate = /^(?:name|serial_number|mac_address)$/.test(key) || (key === 'ip' && !value.startsWith('127.'))
    return isPrivate && value.length > 2 ? [value] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => listPrivate(item, name))
}

const listMacs = (details: unknown) => JSON.stringify(details).match(/(?:[0-9A-F]{2}:){5}[0-9A-F]{2}/gi) ?? []
const withoutSeparators = (text: string) => text.replaceAll(/[:-]/g, '').toLowerCase()

describe.concurrent('captures', () => {
  // Conformance: C-24.5.
  it.each(Object.entries(families))(
    'record %s without private values, and replay to the same readings',
    async (_, family) => {
      const { app, admin, address, secrets } = await startFor(family)
      const started = await app.post('/api/captures/', { address, minutes: 0.1 }, admin)
      expect(started, JSON.stringify(started.json)).toMatchObject({ status: 201, json: { ended: null } })
      const { id } = started.json
      expect((await app.post('/api/captures/', { address }, admin)).status).toBe(409)
      await until('it has ended', async () => (await app.get(`/api/captures/${id}/`, admin)).json.ended === 'time')
      const file = (await app.get(`/api/captures/${id}/file`, admin)).bytes.toString()
      const capture = parseCapture(file)
      const details = (await app.get('/api/admin/receivers/', admin)).json
      const models: readonly string[] = details.map((receiver: { model: string }) => receiver.model)
      const values = listPrivate(details).filter((value) => !models.includes(value))
      for (const value of [...values, ...secrets]) expect(file).not.toContain(value)
      const digits = withoutSeparators(file)
      for (const mac of listMacs(details)) expect(digits).not.toContain(withoutSeparators(mac))
      expect(capture.lines.filter(isExchange).map(({ from }) => from)).toContain('device')
      const { differences, error, devices } = await replayAlone(capture)
      expect({ differences, error }).toEqual({ differences: [], error: null })
      expect(devices.length).toBeGreaterThan(0)
      expect((await app.get('/api/admin/audit/?action=capture.', admin)).json).toMatchObject([
        { action: 'capture.start', target: `source ${address}`, result: 'ok' },
      ])
    },
  )
})

describe('micwatch capture', () => {
  // Conformance: C-24.5, C-24.67.
  it('writes the file, and check compares it, finds what was edited and refuses what is no capture', async () => {
    const ulxd = families['ULX-D']
    if (ulxd === undefined) throw new Error('no ULX-D')
    const { app, admin, address } = await startFor(ulxd)
    const folder = await mkdtemp(join(tmpdir(), 'micwatch-capture-'))
    onTestEnd(() => rm(folder, { recursive: true }))
    const file = join(folder, 'ulxd.jsonl')
    const installation = await createInstallation()
    const token = String(admin.authorization).replace('Bearer ', '')
    const host = new URL(address).host
    const options = ['--minutes', '0.05', '--out', file, '--url', app.url, '--token', token]
    expect(await installation.run(['capture', host, ...options])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Wrote .* Read it before you pass it on\.\n$/),
    })
    const check = (name: string) => installation.run(['capture', 'check', join(folder, name)])
    expect(await check('ulxd.jsonl')).toMatchObject({
      code: 0,
      out: 'The adapter reads the same as when it was recorded.\n',
    })
    const text = await readFile(file, 'utf8')
    await writeFile(join(folder, 'edited.jsonl'), text.replaceAll('"device_type":"ulxd"', '"device_type":"qlxd"'))
    expect(await check('edited.jsonl')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/device_type: recorded "qlxd", now "ulxd"/),
    })
    await writeFile(join(folder, 'cut.jsonl'), text.slice(0, text.indexOf('"end"')))
    expect(await check('cut.jsonl')).toMatchObject({ code: 1, out: expect.stringMatching(/was cut off/) })
    await writeFile(join(folder, 'other.jsonl'), '{"format":"pcap"}\n')
    expect(await check('other.jsonl')).toMatchObject({ code: 2, err: expect.stringMatching(/other\.jsonl: line 1: /) })
    expect(await check('absent.jsonl')).toMatchObject({ code: 2, err: expect.stringMatching(/cannot be read: ENOENT/) })
    expect(await check('.')).toMatchObject({ code: 2, err: expect.stringMatching(/expected a file/) })
    const unknown = await installation.run(['capture', 'nobody.invalid', '--url', app.url, '--token', token])
    expect(unknown).toMatchObject({ code: 1, err: expect.stringMatching(/There is no source with the address nobody/) })
  })
})

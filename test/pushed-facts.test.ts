/** Facts that arrive over a link are stored soon, so that a crash loses none of them. */

import { it } from 'vitest'
import { startSsc1Simulator } from '../simulators/sennheiser/ssc1.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { Channel } from '../src/domain/equipment/receiver.ts'
import { openDatabase } from '../src/storage/database.ts'
import { listReceivers } from '../src/storage/receivers.ts'
import {
  channelOf,
  configFor,
  deviceOf,
  startApp,
  startSennheiser,
  startShure,
  type TestApp,
  until,
} from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { eventually } from './support/eventually.ts'
import { engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

/** A source that is not polled after its start, and its pushed changes, each with what must be stored of a channel. */
interface Link {
  readonly manufacturer: object
  readonly changes: readonly (readonly [change: () => void, stored: object])[]
}

const rarely = { poll_interval: 3600 }

async function openSystem(start: typeof startShure | typeof startSennheiser): Promise<Link> {
  const system = await start({ receivers: 1, channelsPerReceiver: 1, pushesPerSecond: 0 })
  const { id } = deviceOf(system)
  const set = (change: Parameters<typeof system.show.set>[1]) => () => {
    system.show.set(id, change, 1)
    system.push.flush()
  }
  return {
    manufacturer: configFor(system, rarely),
    changes: [
      [
        set({ name: 'Vocals 1', frequency: '606.125', battery: 8 }),
        { name: 'Vocals 1', frequency: '606.125', transmitter: { battery: 8 } },
      ],
      [set({ transmitter: false, rf_level: -110 }), { transmitter: null }],
    ],
  }
}

const links: Record<string, () => Promise<Link>> = {
  'the WebSocket of a system': () => openSystem(startShure),
  'the event stream of a system': () => openSystem(startSennheiser),
  async 'TCP from a device'() {
    const device = await startStringsSimulator({ family: 'ulxd' })
    onTestEnd(() => device.close())
    device.change(1, { transmitter: true, battery: 80, rf_level: -50 })
    const change = (values: Parameters<typeof device.change>[1]) => () => device.change(1, values)
    return {
      manufacturer: { code: 'shure', config: { devices: [device.url], ...rarely } },
      changes: [
        [change({ name: 'Vocals 1', battery: 8 }), { transmitter: { battery: 8 } }],
        [change({ muted: true }), { details: { muted: true } }],
        [change({ transmitter: false }), { transmitter: null }],
      ],
    }
  },
  async 'UDP from a device'() {
    const device = await startSsc1Simulator({ mac: '00:1B:66:00:00:07', host: '127.0.0.17' })
    onTestEnd(() => device.close())
    const set = (values: Parameters<typeof device.set>[0]) => () => device.set(values)
    const pack = '/mates/tx1/battery'
    return {
      manufacturer: { code: 'sennheiser', config: { devices: [device.url], ...rarely } },
      changes: [
        [set({ '/rx1/name': 'VOX 1' }), { name: 'VOX 1' }],
        [
          set({ [`${pack}/gauge`]: 8, [`${pack}/lifetime`]: 40 }),
          { transmitter: { battery: 8, details: { battery_minutes: 40 } } },
        ],
        [set({ '/rx1/mute': true }), { details: { muted: true } }],
        [() => device.setLinked(1, false), { transmitter: null }],
      ],
    }
  },
}

// Reliability: S13.
it.concurrent.for(Object.keys(links).flatMap((link) => engines.map((engine) => [link, engine] as const)))(
  'facts pushed over %s are stored in %s',
  async ([link, engine]) => {
    const { manufacturer, changes } = await (links[link] as () => Promise<Link>)()
    const app = await startApp({ manufacturers: [manufacturer], engine })
    await waitForConnection(app)
    await until('the transmitter is known', async () => (await firstChannel(app))?.transmitter !== null)
    const db = await openDatabase({ url: app.databaseUrl })
    onTestEnd(() => db.close())
    for (const [change, expected] of changes) {
      change()
      await eventually(() => firstChannel(app)).toMatchObject(expected)
      await eventually(() => storedChannel(db)).toMatchObject(expected)
    }
  },
)

async function waitForConnection(app: TestApp): Promise<void> {
  const headers = await tokenHeaders(app, 'admin')
  await until('the subscription is connected', async () => {
    const { json } = await app.get('/api/admin/realtime-connections/', headers)
    return json[0]?.status === 'connected'
  })
}

async function firstChannel(app: TestApp) {
  const [receiver] = await app.receivers()
  return receiver && channelOf(receiver)
}

async function storedChannel(db: Awaited<ReturnType<typeof openDatabase>>): Promise<Channel | undefined> {
  return (await listReceivers(db.read))[0]?.channels[0]
}

/** Every condition state at once: the same over REST, both WebSockets and in two browsers, also after kill -9. */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { startStringsSimulator } from '../../simulators/shure/strings.ts'
import type { ChannelBody } from '../../src/contract/channels.ts'
import { conditionTable } from '../../src/domain/conditions/condition.ts'
import { createInstallation, startApp, until } from '../support/app.ts'
import { browserForTests, phone } from '../support/browser/browser.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { device, respondJson, startSystem } from '../support/faults/system.ts'
import { openLive } from '../support/live-client.ts'

type Json = Record<string, unknown>
type Installation = Awaited<ReturnType<typeof createInstallation>>
type Service = Awaited<ReturnType<Installation['serve']>>

const browser = browserForTests()

/** The level of the transmitter's battery in percent, and the levels of the channel, or no transmitter. */
interface Situation {
  readonly battery?: number | null
  readonly rf?: number
  readonly audio?: number
  readonly isOff?: boolean
}

/** The situation of a channel in each state that follows from levels, battery and transmitter alone. */
const situations = {
  ok: {},
  battery_critical: { battery: 8 },
  battery_died: { battery: 8 },
  battery_low: { battery: 15 },
  battery_replace_soon: { battery: 40 },
  no_battery_data: { battery: null },
  rf_weak: { rf: -95 },
  clipping: { audio: 0 },
  no_audio: { audio: -80 },
  interference: { isOff: true, rf: -60 },
  tx_off: { isOff: true, rf: -110 },
} satisfies Record<string, Situation>

/** A rack with one channel for each situation. */
function rack(changes: Partial<Record<keyof typeof situations, Situation>> = {}): Json {
  const entries = Object.entries({ ...situations, ...changes }) as [string, Situation][]
  const at = entries.map(([name, situation], index) => ({ name, number: index + 1, ...situation }))
  return device(1, {
    channels: at.map(({ number, name, rf = -50, audio = -20 }) => ({
      channel: number,
      name,
      frequency: 540 + number,
      audio_level: audio,
      rf_level: rf,
    })),
    transmitters: at
      .filter(({ isOff }) => isOff !== true)
      .map(({ number, name, rf = -50, audio = -20, battery = 80 }) => ({
        channel: number,
        slot: number,
        name,
        audio_level: audio,
        rf_level: rf,
        ...(battery === null ? {} : { battery }),
      })),
  })
}

/** A device with one channel. */
const single = (number: number, name: string, more: object = {}) =>
  device(number, {
    channels: [{ channel: 1, name, frequency: 600 + number, audio_level: -20, rf_level: -50 }],
    ...more,
  })

async function startEquipment() {
  const system = await startSystem(respondJson({ devices: [rack(), single(2, 'receiver_offline')] }))
  const silent = await startSystem(respondJson({ devices: [single(3, 'stale')] }))
  const receiver = await startStringsSimulator({ family: 'ad' })
  onTestEnd(() => receiver.close())
  receiver.change(1, {
    name: 'encryption_error',
    transmitter: true,
    battery: 80,
    rf_level: -50,
    audio_level: -20,
    encryptionError: true,
  })
  receiver.change(2, { name: 'muted', battery: 80, rf_level: -50, audio_level: -20, muted: true })
  const charger = await startStringsSimulator({ family: 'mxw' })
  onTestEnd(() => charger.close())
  charger.change(1, { name: 'charging', transmitter: false, isOnCharger: true })
  const manufacturers = [
    system.entry('rack'),
    silent.entry('silent'),
    { code: 'shure', config: { devices: [receiver.url, charger.url] } },
  ]
  return { system, silent, manufacturers }
}

const placeholderSlot = 60
/**
 * The states of channels. A channel is named after the state that it will be in. No equipment of this test stops sending
 * levels while it answers everything else.
 */
const states = conditionTable
  .map(({ state }) => state as string)
  .filter((state) => state !== 'unmonitored' && state !== 'no_levels')

type ChannelState = Pick<ChannelBody, 'id' | 'slot' | 'name' | 'condition'>

async function readChannels(service: Pick<Service, 'receivers'>): Promise<ChannelState[]> {
  const channels = (await service.receivers()).flatMap((receiver) => receiver.channels)
  return channels.map(({ id, slot, name, condition }) => ({ id, slot, name, condition }))
}

/** Returns the channels that are not yet in the state of their name. */
async function findOthers(service: Pick<Service, 'receivers'>): Promise<string[]> {
  const channels = await readChannels(service)
  return states.filter((state) => !channels.some(({ name, condition }) => name === state && condition.state === state))
}

const cards = (page: Page) =>
  page.evaluate<[number, string][]>(`[...document.querySelectorAll('.card[data-state]')]
    .map((card) => [Number(card.querySelector('.card-slot [aria-hidden]').textContent), card.dataset.state])
    .sort(([a], [b]) => a - b)`)

/** Waits until the page shows each channel, and the placeholder, in its state. */
async function expectCards(page: Page, channels: readonly ChannelState[]): Promise<void> {
  const expected = channels.map(({ slot, condition }): [number, string] => [slot, condition.state])
  expected.push([placeholderSlot, 'unmonitored'])
  await eventually(() => cards(page)).toEqual(expected.sort(([a], [b]) => a - b))
}

/** Checks the conditions that a client of version 2 receives first. */
async function expectLive(service: Service, channels: readonly ChannelState[]): Promise<void> {
  const { data } = (await openLive(service)).snapshot
  const sent = data.receivers.flatMap((receiver: { channels: ChannelBody[] }) => receiver.channels)
  expect(sent.map(({ id, condition }: ChannelBody) => [id, condition])).toEqual(
    channels.map(({ id, condition }) => [id, condition]),
  )
}

// Conformance: C-10.1, C-10.4, C-10.7.
it('every state is the same in every interface and on every screen, also after kill -9 and a reload', async () => {
  const { system, silent, manufacturers } = await startEquipment()
  const installation = await createInstallation({ manufacturers })
  const service = await installation.serve()
  await service.post('/api/config/', { key: 'NO_AUDIO_MINUTES', value: '1' })
  await service.post('/api/placeholders/', { slot: placeholderSlot, kind: 'wired', name: 'Stage piano' })
  await until('all channels are known', async () => {
    expect((await readChannels(service)).map(({ name }) => name)).toEqual(expect.arrayContaining(states))
    return true
  })
  const socket = await service.socket()
  const pages = { url: `http://127.0.0.1:${service.port}` }
  const [desk, pocket] = [await browser.open(pages, '/'), await browser.open(pages, '/', phone)]
  await until(
    'one has had no audio for a minute',
    async () => !(await findOthers(service)).includes('no_audio'),
    90_000,
  )

  const isOff = { isOff: true, rf: -110 }
  const offline = single(2, 'receiver_offline', { status: 'offline' })
  system.respondWith(respondJson({ devices: [rack({ battery_died: isOff }), offline] }))
  silent.respondWith(() => {})
  await eventually(() => findOthers(service)).toEqual([])
  const channels = await readChannels(service)
  await expectLive(service, channels)
  await until('the messages of version 1 are the same', () => {
    const updated = socket.ofType('device_update').flatMap(({ data }): ChannelBody[] => data.channels)
    const sent = new Map(updated.map(({ id, condition }) => [id, condition]))
    for (const { id, condition } of channels) if (sent.has(id)) expect(sent.get(id)).toEqual(condition)
    return sent.size >= states.length - 1
  })
  await expectCards(desk, channels)
  await expectCards(pocket, channels)

  const reader = await startApp({ databaseUrl: installation.databaseUrl, servesOnly: true })
  await eventually(() => readChannels(reader)).toEqual(channels)
  await reader.close()
  service.kill('SIGKILL')
  await service.ended
  const second = await installation.serve(['--port', String(service.port)])
  await eventually(() => readChannels(second)).toEqual(channels)
  await expectCards(desk, channels)
  await pocket.reload()
  await expectCards(pocket, channels)
  await expectLive(second, channels)
})

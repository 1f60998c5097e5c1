/** Puts the channels of new devices on slots that wait for a receiver. */

import { useState } from 'react'
import type { ScanBody } from '../../../src/contract/discovery.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { takesChannels } from '../../../src/domain/equipment/slots.ts'
import type { Api } from '../../app/api.ts'
import { formatDuration, formatList, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useResource } from '../../app/resource.ts'
import { slotTitle } from '../../app/slot-records.ts'
import { SlotChoice } from '../../parts/slots/slot-choice.tsx'

/** A device that can be monitored individually once its address is configured. */
export interface AddableDevice extends Readonly<ScanBody['devices'][number]> {
  readonly address: string
  readonly manufacturer: string
}

/** Lists the placeholders onto which a channel can be moved. */
export function useWaitingSlots(): readonly SlotRecord[] {
  const slots = useResource('/api/slots/', 'list', ['slot_records', 'slots', 'placeholders'])
  return (slots.body ?? []).filter((record) => record.placeholder_id !== null && takesChannels(record))
}

export interface ChosenSlots {
  get(address: string, channel: number): number | null
  /** The channels of the device that have this slot, in the order of the channels. */
  listOf(device: AddableDevice): readonly { readonly channel: number; readonly slot: number }[]
  choose(device: AddableDevice, channel: number, slot: number | null): void
}

export function useChosenSlots(waiting: readonly SlotRecord[]): ChosenSlots {
  const [chosen, setChosen] = useState<ReadonlyMap<string, number>>(new Map())
  const listOf = ({ address, channels }: AddableDevice) =>
    Array.from({ length: channels }, (_, index) => index + 1).flatMap((channel) => {
      const slot = chosen.get(keyOf(address, channel))
      return slot === undefined ? [] : [{ channel, slot }]
    })
  return {
    get: (address, channel) => chosen.get(keyOf(address, channel)) ?? null,
    listOf,
    choose(device, channel, slot) {
      const after = new Map([...chosen].filter(([, taken]) => taken !== slot))
      after.delete(keyOf(device.address, channel))
      if (slot !== null) {
        after.set(keyOf(device.address, channel), slot)
        proposeNext(after, waiting, device, channel, slot)
      }
      setChosen(after)
    },
  }
}

/** The next free slots are proposed for the channels after the first one. */
function proposeNext(
  chosen: Map<string, number>,
  waiting: readonly SlotRecord[],
  { address, channels }: AddableDevice,
  channel: number,
  slot: number,
): void {
  const isFirst = Array.from({ length: channels }, (_, index) => keyOf(address, index + 1)).every(
    (key) => key === keyOf(address, channel) || !chosen.has(key),
  )
  if (!isFirst) return
  const taken = new Set(chosen.values())
  const next = waiting.filter((record) => record.slot > slot && !taken.has(record.slot)).values()
  for (let later = channel + 1; later <= channels; later++) {
    const { value } = next.next()
    if (value !== undefined) chosen.set(keyOf(address, later), value.slot)
  }
}

function keyOf(address: string, channel: number): string {
  return `${channel} ${address}`
}

interface ChannelSlotsProps {
  readonly device: AddableDevice
  readonly waiting: readonly SlotRecord[]
  readonly chosen: ChosenSlots
}

/** One choice for each channel, which can also be dragged onto a slot. */
export function ChannelSlots({ device, waiting, chosen }: ChannelSlotsProps) {
  const options = waiting.map((record) => ({ slot: record.slot, text: nameOf(record) }))
  return (
    <span className="channel-slots">
      {Array.from({ length: device.channels }, (_, index) => index + 1).map((channel) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the field does the same.
        <span
          key={channel}
          draggable={true}
          onDragStart={({ dataTransfer }) => dataTransfer.setData(dragType, keyOf(device.address, channel))}
        >
          <span>{t('find.channel', { channel })}</span>
          <SlotChoice
            className="input"
            label={t('find.channel', { channel })}
            slots={options}
            none={t('find.anySlot')}
            value={chosen.get(device.address, channel)}
            onChoice={(slot) => chosen.choose(device, channel, slot)}
          />
        </span>
      ))}
    </span>
  )
}

const dragType = 'text/plain'

interface WaitingSlotsProps extends Pick<ChannelSlotsProps, 'waiting' | 'chosen'> {
  readonly devices: readonly AddableDevice[]
}

export function WaitingSlots({ devices, waiting, chosen }: WaitingSlotsProps) {
  const drop = (slot: number, key: string) => {
    const channel = Number.parseInt(key, 10)
    const device = devices.find(({ address }) => keyOf(address, channel) === key)
    if (device !== undefined) chosen.choose(device, channel, slot)
  }
  const holders = new Map(
    devices.flatMap((device) => chosen.listOf(device).map(({ slot, channel }) => [slot, { device, channel }] as const)),
  )
  return (
    <section className="waiting-slots">
      <h2>{t('find.waiting')}</h2>
      <p className="hint">{t('find.waitingHint')}</p>
      <ul>
        {waiting.map((record) => {
          const holder = holders.get(record.slot)
          return (
            <li
              key={record.slot}
              data-taken={holder !== undefined || undefined}
              onDragOver={(event) => event.preventDefault()}
              onDrop={(event) => {
                event.preventDefault()
                drop(record.slot, event.dataTransfer.getData(dragType))
              }}
            >
              <bdi>{nameOf(record)}</bdi>
              {holder === undefined ? null : (
                <small>
                  <bdi>{plainText(`${nameOfDevice(holder.device)} · ${holder.channel}`)}</bdi>
                </small>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

function nameOf({ slot, title }: SlotRecord): string {
  return slotTitle({ slot, title: plainText(title ?? '') }).trim()
}

function nameOfDevice({ model, device_type }: AddableDevice): string {
  return plainText(model ?? device_type)
}

export interface Placed {
  readonly address: string
  readonly isPlaced: boolean
  readonly text: string
}

const pollMs = 1_000
/** A source responds within seconds. */
const limitMs = 40_000

/**
 * Moves the channels of the devices onto their slots once their receivers appear. `before`: the receivers that existed
 * before the devices were added.
 */
export async function placeChannels(
  api: Api,
  devices: readonly AddableDevice[],
  chosen: ChosenSlots,
  before: ReadonlySet<number>,
): Promise<Placed[]> {
  const placed: Placed[] = []
  let missing = devices.filter((device) => chosen.listOf(device).length > 0)
  const deadline = performance.now() + limitMs
  while (missing.length > 0 && performance.now() < deadline) {
    for (const [device, receiver] of await findReceivers(api, missing, before)) {
      placed.push(await place(api, device, chosen.listOf(device), receiver))
      missing = missing.filter((other) => other !== device)
    }
    if (missing.length > 0) await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  const reason = t('find.silent', { time: formatDuration(limitMs) })
  return [...placed, ...missing.map((device) => notPlaced(device, reason))]
}

interface NewReceiver {
  readonly channels: readonly { readonly id: number; readonly channel: number; readonly slot: number }[]
}

async function findReceivers(api: Api, devices: readonly AddableDevice[], before: ReadonlySet<number>) {
  const found: (readonly [AddableDevice, NewReceiver])[] = []
  const listed = await api.read('/api/receivers/', 'list')
  if (!listed.ok) return found
  const isPossible = ({ id, ip }: (typeof listed.body)[number]) =>
    !before.has(id) || devices.some((device) => device.ip === ip)
  for (const { id } of listed.body.filter(isPossible)) {
    const detail = await api.read(`/api/receivers/${id}/`, 'object')
    if (!detail.ok) continue
    const { sources, channels } = detail.body
    const device = devices.find(({ address }) => sources.includes(address))
    if (device !== undefined && channels.length > 0) found.push([device, detail.body])
  }
  return found
}

async function place(
  api: Api,
  device: AddableDevice,
  slots: ReturnType<ChosenSlots['listOf']>,
  { channels }: NewReceiver,
): Promise<Placed> {
  const moves = slots.flatMap(({ channel, slot }) => {
    const known = channels.find((candidate) => candidate.channel === channel)
    return known === undefined ? [] : [{ channel_id: known.id, from: known.slot, slot }]
  })
  const response = await api.write('PUT', '/api/slots/', { moves }, 'object')
  if (!response.ok) return notPlaced(device, response.problem.detail)
  const { address } = device
  const names = formatList(moves.map(({ slot }) => String(slot)))
  return { address, isPlaced: true, text: t('find.placed', { device: nameOfDevice(device), slots: names }) }
}

function notPlaced(device: AddableDevice, reason: string): Placed {
  const { address } = device
  return { address, isPlaced: false, text: t('find.notPlaced', { device: nameOfDevice(device), reason }) }
}

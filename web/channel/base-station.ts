/** The rows of what a base station reports about itself, with the words of the device. */

import type { ReceiverDetails } from '../../src/contract/receivers.ts'
import { formatCelsius, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'

type Antenna = NonNullable<ReceiverDetails['antennas']>[number]
type Word = string | null | undefined

export function baseStationPairs({ details = {} }: { readonly details?: ReceiverDetails }) {
  const { state, warnings, temperature, antennas, supplies, fans, clock, interfaces, entitlement } = details
  return [
    { name: t('channel.fields.deviceState'), value: words([state]) },
    { name: t('channel.fields.warnings'), value: words(warnings ?? []) },
    { name: t('channel.fields.temperature'), value: words([temperature]) },
    ...(antennas ?? []).map((antenna) => ({
      name: t('channel.fields.antenna', { port: plainText(antenna.port).toUpperCase() }),
      value: antennaText(antenna),
    })),
    { name: t('channel.fields.supplies'), value: parts(supplies) },
    { name: t('channel.fields.fans'), value: parts(fans) },
    { name: t('channel.fields.clockSource'), value: words([clock?.source]) },
    { name: t('channel.fields.wordClock'), value: words([clock?.word_clock]) },
    ...Object.entries(interfaces ?? {}).map(([name, status]) => ({
      name: t('channel.fields.audioInterface', { name: plainText(name) }),
      value: words([status.type, status.status, status.clock_source]),
    })),
    { name: t('channel.fields.entitlement'), value: words([entitlement]) },
  ]
}

function antennaText({ state, type, error, temperature_c, too_hot, packet_errors, interference }: Antenna) {
  return words([
    ...[state, type, error],
    typeof temperature_c === 'number' ? formatCelsius(temperature_c) : null,
    too_hot === true ? t('channel.antennaTooHot') : null,
    packet_errors === true ? t('channel.packetErrors') : null,
    interference ? t('channel.interferenceSeverity', { severity: plainText(interference) }) : null,
  ])
}

/** For example "psu1 connected, psu2 unconnected". */
function parts(of: Readonly<Record<string, Word>> | null | undefined): string | null {
  return words(Object.entries(of ?? {}).map(([name, word]) => (word ? `${name} ${word}` : null)))
}

function words(all: readonly Word[]): string | null {
  const known = all.filter((word) => word).map((word) => plainText(word ?? ''))
  return known.length === 0 ? null : known.join(', ')
}

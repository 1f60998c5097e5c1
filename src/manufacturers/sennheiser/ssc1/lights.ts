/** Makes the lights of an SSC 1 device flash, with separate datagrams. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { describeNoResponse } from '../../../upstream/errors.ts'
import { openUdpSocket } from '../../../upstream/udp.ts'
import type { Flashing, FlashRequest, Lights } from '../../plugin.ts'
import { formatValue, parseMessage } from './codec.ts'

/** A datagram may be lost. */
const repeatEveryMs = 500

interface Light {
  readonly address: string
  /** Null if the whole device flashes. */
  readonly channel: number | null
  /** Number of bays, if the lights of all bays are set together as a list. */
  readonly bays?: number
}

const deviceLight: Light = { address: '/device/identification/visual', channel: null }
const channelLight = (channel: number): Light => ({ address: `/rx${channel}/identification/visual`, channel })

/** Returns the lights of a device of this type, or of one of its channels, or null. */
function lightOf(deviceType: string, channel: number | null): Light | null {
  switch (deviceType) {
    case 'ewdx':
    case 'slmcr':
      return channel === null ? deviceLight : channelLight(channel)
    case 'chg70n':
      return deviceLight
    case 'slrack':
      return { address: '/rx1/identify', channel: null }
    case 'chg2n':
    case 'chg4n':
      return { address: '/bays/identify', channel: null, bays: deviceType === 'chg2n' ? 2 : 4 }
    default:
      return null
  }
}

export const lights: Lights = { areIn: (deviceType) => lightOf(deviceType, null) !== null, flash }

async function flash(
  client: UpstreamClient,
  { deviceType, channel, isOn }: FlashRequest,
  signal: AbortSignal,
): Promise<Flashing | null> {
  const light = lightOf(deviceType, channel)
  if (light === null) return null
  const { address, bays } = light
  const value = bays === undefined ? isOn : Array.from({ length: bays }, () => isOn)
  const { timeoutMs, baseUrl } = client.settings
  const socket = await openUdpSocket(client, { signal, silentMs: timeoutMs })
  // If sending fails, no answer arrives.
  const send = () => void socket.send(formatValue(address, value)).catch(() => {})
  const timer = setInterval(send, repeatEveryMs)
  try {
    send()
    for await (const texts of socket.messages) {
      for (const message of texts.map(parseMessage)) {
        if (message?.errors.some((error) => error.address === address)) return null
        if (message?.values.has(address)) return { channel: light.channel }
      }
    }
    throw new client.errors.ApiError(describeNoResponse(new URL(baseUrl).host, timeoutMs))
  } finally {
    clearInterval(timer)
    socket.close()
  }
}

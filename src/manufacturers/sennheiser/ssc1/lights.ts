/** Makes the lights of an SSC 1 device flash, with datagrams of its own. */

import type { UpstreamClient } from '../../../upstream/client.ts'
import { describeNoResponse } from '../../../upstream/error-messages.ts'
import { openUdpSocket } from '../../../upstream/udp.ts'
import type { Flashing, FlashRequest, Lights } from '../../plugin.ts'
import { formatValue, parseMessage } from './codec.ts'

/** A datagram may be lost. */
const repeatEveryMs = 500

/** The address that makes a device of this type flash, or one of its channels; null if it has no such lights. */
function addressOf(deviceType: string, channel: number | null): string | null {
  if (deviceType === 'ewdx') return channel === null ? deviceAddress : `/rx${channel}/identification/visual`
  return deviceType === 'chg70n' ? deviceAddress : null
}

const deviceAddress = '/device/identification/visual'

export const lights: Lights = { areIn: (deviceType) => addressOf(deviceType, null) !== null, flash }

async function flash(
  client: UpstreamClient,
  { deviceType, channel, isOn }: FlashRequest,
  signal: AbortSignal,
): Promise<Flashing | null> {
  const address = addressOf(deviceType, channel)
  if (address === null) return null
  const { timeoutMs, baseUrl } = client.settings
  const socket = await openUdpSocket(client, { signal, silentMs: timeoutMs })
  // If sending fails, no answer arrives.
  const send = () => void socket.send(formatValue(address, isOn)).catch(() => {})
  const timer = setInterval(send, repeatEveryMs)
  try {
    send()
    for await (const texts of socket.messages) {
      for (const message of texts.map(parseMessage)) {
        if (message?.errors.some((error) => error.address === address)) return null
        if (message?.values.has(address)) return { channel: address === deviceAddress ? null : channel }
      }
    }
    throw new client.errors.ApiError(describeNoResponse(new URL(baseUrl).host, timeoutMs))
  } finally {
    clearInterval(timer)
    socket.close()
  }
}

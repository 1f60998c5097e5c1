/** Scans the spectrum with a receiver at an administrator's request. */

import type { ScanRequestBody } from '../../contract/receivers.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { maxSweepPoints } from '../../domain/frequencies/sweeps/sweep.ts'
import { hasTransmitter, type RequestedScan } from '../../frequencies/receiver-scans.ts'
import type { ScanRange } from '../../manufacturers/plugin.ts'
import type { Service } from '../../service.ts'
import { requireLocal } from '../require-local.ts'
import { findModelStatusOf } from './model-status.ts'

/** Returns the source of the sweeps. Throws a RequestError if that is not permitted now, or the receiver refuses. */
export async function startReceiverScan(
  service: Service,
  actor: Actor,
  id: number,
  body: ScanRequestBody,
): Promise<string> {
  const receiver = requireReceiver(service, id)
  const range = service.receiverScans.rangeOf(receiver)
  if (range === null) throw refuse(`Micwatch cannot scan the spectrum with ${receiver.name}.`)
  requirePermission(service, receiver)
  const requested = toRequestedScan(body, range)
  if (receiver.channels.some(({ transmitter }) => transmitter !== null)) throw hasTransmitter(receiver.name)
  return service.receiverScans.start(actor, receiver, requested)
}

export async function stopReceiverScan(service: Service, actor: Actor, id: number): Promise<void> {
  await service.receiverScans.stop(actor, requireReceiver(service, id))
}

function requireReceiver({ receiverStore }: Service, id: number): Receiver {
  const receiver = receiverStore.get(id)
  if (receiver === undefined) throw new RequestError('not_found', { subject: `receiver ${id}` })
  requireLocal(receiver)
  return receiver
}

function requirePermission(service: Service, receiver: Receiver): void {
  const { control, lists } = service
  const { name } = receiver
  const file = control.file ?? 'the configuration file (micwatch.yaml)'
  if (!control.allowed.includes('scan')) {
    throw refuse(
      `A scan writes to the receiver, which the configuration does not allow. Add scan to the key control in ${file}, as in control: [scan], and restart Micwatch.`,
    )
  }
  const status = findModelStatusOf(service, receiver)?.status ?? 'documents'
  if (status !== 'confirmed by a user' && !control.isUnconfirmedAllowed) {
    throw refuse(
      `No user has confirmed this model yet (status: ${status}). To write to it anyway, set control_unconfirmed: true in ${file}, and restart Micwatch.`,
    )
  }
  if (receiver.spare !== true) {
    throw refuse(
      `${name} is not marked as a spare. A receiver receives nothing while it scans, so only spares may scan.`,
    )
  }
  if (lists.runningShows().length > 0 && !control.isAllowedDuringShows) {
    throw refuse(`A show is running. Receivers do not scan then, unless ${file} contains control_during_shows: true.`)
  }
}

function toRequestedScan({ from_mhz, to_mhz, step_khz, sweeps = 1 }: ScanRequestBody, range: ScanRange): RequestedScan {
  const [fromKhz, toKhz] = [Math.round(from_mhz * 1000), Math.round(to_mhz * 1000)]
  const { fromKhz: lowest, toKhz: highest, stepKhz: step } = range
  const expected = `expected a frequency from ${lowest / 1000} to ${highest / 1000} MHz`
  if (fromKhz < lowest || fromKhz > highest) throw badRequest(`from_mhz: ${expected}`)
  if (toKhz < lowest || toKhz > highest) throw badRequest(`to_mhz: ${expected}`)
  if (step_khz % step !== 0) throw badRequest(`step_khz: expected a multiple of ${step}`)
  if (toKhz - fromKhz < step_khz) throw badRequest('to_mhz: expected a frequency above from_mhz by at least step_khz')
  if ((toKhz - fromKhz) / step_khz >= maxSweepPoints)
    throw badRequest(`step_khz: expected ${maxSweepPoints} points or less`)
  return { fromKhz, toKhz, stepKhz: step_khz, sweeps }
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}

function refuse(subject: string): RequestError {
  return new RequestError('wrong_state', { subject })
}

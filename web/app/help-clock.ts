import { clockAheadMs, clockToleranceMs, readServiceClock } from './service-time.ts'

/** Notes on a page of the help that the clock of the device is off. */
export async function checkClock(mount: string): Promise<void> {
  const sentAt = Date.now()
  const { headers } = await fetch(`${mount}/healthz`, { method: 'HEAD', cache: 'no-store' })
  readServiceClock({ at: Date.parse(headers.get('date') ?? ''), resolutionMs: 1_000, sentAt, receivedAt: Date.now() })
  const offMs = Math.abs(clockAheadMs())
  if (offMs <= clockToleranceMs) return
  const seconds = Math.round(offMs / 1_000)
  const amount = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
  const note = document.createElement('p')
  note.className = 'note'
  note.setAttribute('role', 'status')
  note.textContent = `The clock of this device is ${amount} ${clockAheadMs() < 0 ? 'ahead of' : 'behind'} Micwatch's. All pages count in Micwatch's time.`
  document.querySelector('main')?.prepend(note)
}

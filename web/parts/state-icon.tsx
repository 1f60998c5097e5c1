/** The icon of a state. Every state has a distinct shape, so that it can be recognized without colour. */

import type { ChannelState, Flag } from '../channel-state.ts'

const shapes: Record<ChannelState | Flag, string> = {
  // check mark
  good: 'M2.5 8.5 6.5 12.5 13.5 4',
  // ring
  on: 'M8 3a5 5 0 1 0 0 10A5 5 0 1 0 8 3Z',
  // half-full battery
  replace: 'M1.5 5h11v6h-11ZM14.5 7v2M4 7v2M6.5 7v2',
  // triangle with an exclamation mark
  low: 'M8 1.8 15 14H1ZM8 6.2v3.6M8 11.6v.6',
  // octagon with an exclamation mark
  critical: 'M5.2 1.2h5.6l4 4v5.6l-4 4H5.2l-4-4V5.2ZM8 4.4v4.4M8 11v.8',
  // padlock with a cross
  key_error: 'M3 7.5h10v7H3ZM5 7.5V5a3 3 0 0 1 6 0v2.5M6.2 9.2l3.6 3.6M9.8 9.2l-3.6 3.6',
  // crossed-out antenna
  rf_weak: 'M8 14V6M3 2l5 5 5-5M2 13 14 9',
  rf_fair: 'M8 14V6M3 2l5 5 5-5',
  // crossed-out microphone
  muted: 'M8 1.5a2 2 0 0 0-2 2V8a2 2 0 0 0 4 0V3.5a2 2 0 0 0-2-2ZM3.5 8a4.5 4.5 0 0 0 9 0M8 12.5v2M2 14 14 2',
  // two crossing waves
  interference: 'M1 8c2.3-6 4.7-6 7 0s4.7 6 7 0M1 8c2.3 6 4.7 6 7 0s4.7-6 7 0',
  // clipped wave
  clipping: 'M1 12 3.5 4h3L9 12l2.5-8H15M1 1.5h14',
  // power switch
  off: 'M8 1.5v5.5M4.6 3.9a5.2 5.2 0 1 0 6.8 0',
  // clock
  off_recently: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13ZM8 4.5V8l2.5 2',
  // unplugged box
  receiver_lost: 'M1.5 8.5h13v5h-13ZM4 11h2M5.5 2l5 4M10.5 2l-5 4',
  // hourglass
  stale: 'M3.5 1.5h9M3.5 14.5h9M4.5 1.5c0 4 7 9 7 13M11.5 1.5c0 4-7 9-7 13',
}

export function StateIcon({ state }: { state: ChannelState | Flag }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[state]} />
    </svg>
  )
}

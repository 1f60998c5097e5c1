/** The field of actions and feedbacks that selects a channel by its slot. */
export const channelField = {
  id: 'channel',
  type: 'number',
  label: 'Slot',
  default: 1,
  min: 1,
  max: 9999,
  asInteger: true,
} as const

import { onDemand } from '../dialogs/on-demand.tsx'

export const NoteDialog = onDemand(async () => (await import('./alert-dialogs.tsx')).NoteDialog)
export const SnoozeDialog = onDemand(async () => (await import('./alert-dialogs.tsx')).SnoozeDialog)
export const SilenceDialog = onDemand(async () => (await import('./silence-dialog.tsx')).SilenceDialog)

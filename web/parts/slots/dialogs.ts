import { withTexts } from '../../app/i18n.ts'
import { onDemand } from '../dialogs/on-demand.tsx'

const loadSlotDialog = withTexts(['performers'], () => import('./slot-dialog.tsx'))

export const SlotDialog = onDemand(async () => (await loadSlotDialog()).SlotDialog)
export const SwapDialog = onDemand(async () => (await import('./swap-dialog.tsx')).SwapDialog)

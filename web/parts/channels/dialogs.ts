import { withTexts } from '../../app/i18n.ts'
import { onDemand } from '../dialogs/on-demand.tsx'

const loadNewGroup = withTexts(['groups'], () => import('./new-group.tsx'))

export const NewGroup = onDemand(async () => (await loadNewGroup()).NewGroup)

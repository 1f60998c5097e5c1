import { Disc } from 'lucide-react'
import { useState } from 'react'
import { t, withTexts } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'

const loadDialog = withTexts(['capture'], () => import('./capture-dialog.tsx'))

const CaptureDialog = onDemand(async () => (await loadDialog()).CaptureDialog)

export function CaptureButton({ sources }: { sources: readonly string[] }) {
  const mayCapture = useMay('administer')
  const [isOpen, setOpen] = useState(false)
  if (!mayCapture || sources.length === 0) return null
  return (
    <>
      <button type="button" className="choice" onClick={() => setOpen(true)}>
        <Disc className="icon" aria-hidden="true" />
        {t('capture.title')}
      </button>
      {isOpen ? <CaptureDialog sources={sources} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

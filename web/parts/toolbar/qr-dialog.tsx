import { t } from '../../app/i18n.ts'
import { sharedSearchOf, type View } from '../../app/view.ts'
import { Dialog, DialogEnd } from '../dialogs/dialog.tsx'
import { QrCode } from '../qr-code.tsx'

export function QrDialog({ view, onClose }: { view: View; onClose(): void }) {
  const address = location.origin + location.pathname + sharedSearchOf(view)
  return (
    <Dialog title={t('live.qr.title')} onClose={onClose}>
      <QrCode address={address} />
      <DialogEnd text={t('live.keys.closeButton')} onClose={onClose} />
    </Dialog>
  )
}

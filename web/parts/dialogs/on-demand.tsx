import { type ComponentType, useEffect, useRef, useState } from 'react'
import { t } from '../../app/i18n.ts'
import { useShowMessage } from './messages.tsx'

interface Closable {
  onClose(): void
}

/**
 * Returns a dialog whose module is loaded when it is first opened. If it cannot be loaded, a message says so, and the
 * page stays as it is.
 */
export function onDemand<Props extends Closable>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null
  return function OnDemand(props: Props) {
    const [Loaded, setLoaded] = useState(() => loaded)
    const showMessage = useShowMessage()
    const { onClose } = props
    const close = useRef(onClose)
    close.current = onClose
    useEffect(() => {
      load().then(
        (component) => {
          loaded = component
          setLoaded(() => component)
        },
        () => {
          showMessage({ text: t('brokenPage.why'), tone: 'alarm' })
          close.current()
        },
      )
    }, [showMessage])
    return Loaded === null ? null : <Loaded {...props} />
  }
}

/** Disks, file systems and what the machine boots from. */
import { judgeWrite } from '../paths/changes.js';
import { type Checks, each, has, operands } from './check.js';

export const disk: Checks = {
  ...each(
    'mkfs mke2fs mkswap newfs wipefs blkdiscard sfdisk sgdisk cfdisk gdisk parted fdisk badblocks',
    ({ program, args }, scope) => {
      const shows =
        has(args, 'lV', 'list', 'version', 'help', 'print', 'dump') ||
        args.includes('print') ||
        (program === 'wipefs' && !has(args, 'af', 'all', 'force', 'offset'));
      if (program === 'badblocks' && !has(args, 'wn')) return;
      if (args.length > 0 && !shows) {
        const image = operands(args).at(-1) ?? '';
        if (/\.(?:img|iso|raw|ext4|swap)$/.test(image) && !image.startsWith('/dev/'))
          scope.medium('Makes a file system in an image file.');
        else scope.high('Changes or erases a disk.');
      }
    },
  ),
  cryptsetup: ({ args }, scope) => {
    if (args.some((arg) => /^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/.test(arg)))
      scope.high('Changes or erases an encrypted disk.');
  },
  dmsetup: ({ args }, scope) => {
    if (
      /^(?:remove|remove_all|wipe_table|suspend|clear)$/.test(args.find((arg) => !arg.startsWith('-')) ?? '')
    )
      scope.high('Removes a volume with all its data.');
  },
  ...each('lvreduce vgreduce lvresize', (_, scope) =>
    scope.high('Makes a volume smaller than what is on it.'),
  ),
  ...each('sg_format sg_sanitize scrub nwipe dban hdderase', (_, scope) => scope.high('Erases a disk.')),
  ...each(
    'grub-editenv grub2-editenv grub-set-default grub-reboot kernel-install lilo extlinux syslinux efivar mokutil sbctl tpm2_clear',
    ({ program, args }, scope) => {
      if (!args.some((arg) => /^(?:list|status|--list.*|-l|--sb-state|verify)$/.test(arg)) && args.length > 0)
        scope.high(`Changes what the machine boots from through ${program}.`);
    },
  ),
  ...each('lvremove vgremove pvremove', (_, scope) => scope.high('Removes a volume with all its data.')),
  ...each('zpool zfs btrfs mdadm', ({ args }, scope) => {
    if (
      args.some((arg) => /^(?:destroy|labelclear|--zero-superblock|--stop)$/.test(arg)) ||
      (args[0] === 'subvolume' && args[1] === 'delete')
    )
      scope.high('Removes a volume with all its data.');
  }),
  hdparm: ({ args }, scope) => {
    if (args.some((arg) => /security-erase|trim-sector|write-sector|make-bad-sector/.test(arg)))
      scope.high('Erases a disk.');
  },
  nvme: ({ args }, scope) => {
    if (/^(?:format|sanitize)$/.test(args[0] ?? '')) scope.high('Erases a disk.');
  },
  diskutil: ({ args }, scope) => {
    if (/^(?:erase|partition|zero|secureErase|reformat)/i.test(args[0] ?? '')) scope.high('Erases a disk.');
  },
  ...each('grub-install efibootmgr bootctl flashrom fwupdmgr nvram', ({ program, args }, scope) => {
    if (args.length > 0 && !/^(?:status|list|-v|get-devices|--version)$/.test(args[0] ?? ''))
      scope.high(`Changes what the machine boots from through ${program}.`);
  }),
  ...each('update-grub grub-mkconfig update-initramfs dracut mkinitcpio', (_, scope) =>
    scope.medium('Changes what the machine boots from.'),
  ),
  ...each('mount umount losetup swapoff swapon', ({ program, args }, scope) => {
    if (args.length === 0 || (program !== 'umount' && has(args, 'l'))) return;
    if (program === 'mount' && args.some((arg) => /^\/dev\/(?:sd|nvme|vd|xvd|mapper|disk|dm-)/.test(arg)))
      scope.high('Opens a disk of the machine.');
    else if (
      program === 'mount' &&
      (args.includes('--bind') || args.some((arg) => /\b(?:r?bind)\b/.test(arg))) &&
      judgeWrite(scope.place(operands(args).at(-1) ?? ''))?.risk === 'high'
    )
      scope.high('Lays something else over a file of the system.');
    else if (program === 'mount' && args.some((arg) => /remount/.test(arg)) && args.includes('/'))
      scope.high('Changes how the whole file system is opened.');
    else if (
      program === 'umount' &&
      (has(args, 'a', 'all') || operands(args).some((path) => /^\/(?:home|var|usr|boot|etc)?$/.test(path)))
    )
      scope.high('Closes the file systems of the machine.');
    else if (
      program === 'mount' &&
      args.some((arg) => /^(?:cgroup2?|debugfs|securityfs|bpf)$/.test(arg)) &&
      operands(args).some((arg) => /^\/(?:tmp|mnt)/.test(arg))
    )
      scope.high('Opens controls of the kernel.');
    else scope.medium('Changes which file systems are open.');
  }),
  ...each(
    'tune2fs xfs_admin e2label fatlabel resize2fs e2fsck fsck xfs_repair',
    ({ program, args }, scope) => {
      if (has(args, 'lnN') || !args.some((arg) => arg.startsWith('/dev/'))) return;
      scope.findings.add(
        /tune2fs|xfs_admin|resize2fs/.test(program) ? 'high' : 'medium',
        'Changes the file system of a disk.',
      );
    },
  ),
  debugfs: ({ args }, scope) => {
    if (args.some((arg) => arg.startsWith('/dev/')))
      scope.high('Reads or changes a disk below its file system.');
  },
};

/** Disks, file systems and the boot files of the machine. */
import { judgeWrite } from '../../paths/changes.js';
import type { Invocation } from '../../shell/invocation.js';
import type { Scope } from '../../shell/scope.js';
import { operands } from '../arguments.js';
import type { Rule } from '../rule.js';

const gone = 'Removes a volume with all its data.';
const erased = 'Erases a disk.';

export const disks: readonly Rule[] = [
  {
    programs: 'mkfs* mke2fs mkswap newfs wipefs blkdiscard sfdisk sgdisk cfdisk gdisk parted fdisk badblocks',
    count: 1,
    cases: [
      { option: '-l -V --list --version --help --print --dump', low: true },
      { arg: 'print', low: true },
      { program: 'wipefs', unless: { option: '-a -f --all --force --offset' }, low: true },
      { program: 'badblocks', unless: { option: '-w -n' }, low: true },
      { test: onImage, medium: 'Makes a file system in an image file.' },
      { high: 'Changes or erases a disk.' },
    ],
  },
  { programs: 'cryptsetup', arg: 'luksFormat erase luksErase luksKillSlot luksRemoveKey reencrypt', high: 'Changes or erases an encrypted disk.' },
  { programs: 'dmsetup', verb: 'remove remove_all wipe_table suspend clear', high: gone },
  { programs: 'lvreduce vgreduce lvresize', high: 'Makes a volume smaller than what is on it.' },
  { programs: 'sg_format sg_sanitize scrub nwipe dban hdderase', high: erased },
  { programs: 'lvremove vgremove pvremove', high: gone },
  { programs: 'zpool zfs btrfs mdadm', arg: 'destroy labelclear --zero-superblock --stop', high: gone },
  { programs: 'zpool zfs btrfs mdadm', words: 'subvolume delete', high: gone },
  { programs: 'hdparm', arg: /security-erase|trim-sector|write-sector|make-bad-sector/, high: erased },
  { programs: 'nvme', verb: 'format sanitize', high: erased },
  { programs: 'diskutil', verb: /^(?:erase|partition|zero|secureErase|reformat)/i, high: erased },
  {
    programs: 'grub-editenv grub2-editenv grub-set-default grub-reboot kernel-install lilo extlinux syslinux efivar mokutil sbctl tpm2_clear',
    count: 1,
    unless: { arg: 'list status --list* -l --sb-state verify' },
    high: 'Changes what the machine boots from through {program}.',
  },
  {
    programs: 'grub-install efibootmgr bootctl flashrom fwupdmgr nvram',
    count: 1,
    unless: { test: ({ args }) => /^(?:status|list|-v|get-devices|--version)$/.test(args[0] ?? '') },
    high: 'Changes what the machine boots from through {program}.',
  },
  { programs: 'update-grub grub-mkconfig update-initramfs dracut mkinitcpio', medium: 'Changes what the machine boots from.' },
  {
    programs: 'mount',
    count: 1,
    unless: { option: '-l' },
    cases: [
      { arg: /^\/dev\/(?:sd|nvme|vd|xvd|mapper|disk|dm-)/, high: 'Opens a disk of the machine.' },
      { test: coversSystemFile, high: 'Lays something else over a file of the system.' },
      { line: /remount/, operand: '/', high: 'Changes how the whole file system is opened.' },
      { arg: 'cgroup cgroup2 debugfs securityfs bpf', operand: /^\/(?:tmp|mnt)/, high: 'Opens controls of the kernel.' },
      { medium: 'Changes which file systems are open.' },
    ],
  },
  {
    programs: 'umount',
    count: 1,
    cases: [
      { option: '-a --all', high: 'Closes the file systems of the machine.' },
      { operand: '/ /home /var /usr /boot /etc', high: 'Closes the file systems of the machine.' },
      { medium: 'Changes which file systems are open.' },
    ],
  },
  { programs: 'losetup swapoff swapon', count: 1, unless: { option: '-l' }, medium: 'Changes which file systems are open.' },
  {
    programs: 'tune2fs xfs_admin e2label fatlabel resize2fs e2fsck fsck xfs_repair',
    arg: '/dev/*',
    unless: { option: '-l -n -N' },
    medium: 'Changes the file system of a disk.',
    highWhen: { program: 'tune2fs xfs_admin resize2fs' },
  },
  { programs: 'debugfs', arg: '/dev/*', high: 'Reads or changes a disk below its file system.' },
];

function onImage({ args }: Invocation): boolean {
  const image = operands(args).at(-1) ?? '';
  return /\.(?:img|iso|raw|ext4|swap)$/.test(image) && !image.startsWith('/dev/');
}

function coversSystemFile({ args }: Invocation, scope: Scope): boolean {
  return args.some((arg) => /\b(?:r?bind)\b/.test(arg)) && judgeWrite(scope.place(operands(args).at(-1) ?? ''))?.risk === 'high';
}

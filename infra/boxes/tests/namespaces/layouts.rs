//! Every layout answers as the contract says, through nginx on a box of its own.

use boxes::Transport;

use crate::support::{
    MONOLITH_1, MONOLITH_X4, ONE_SERVICE_PER_BOX, REBALANCED, conforms, deploy, down, inventory, over, smoke,
    up,
};

#[tokio::test(flavor = "multi_thread")]
async fn one_service_per_box_conforms_over_both_transports() {
    let Some(mut deployment) = up(&over(Transport::Http, ONE_SERVICE_PER_BOX)).await else {
        return;
    };
    assert_eq!(conforms(&mut deployment, 1, |_| true).await, 197);
    deploy(&mut deployment, &over(Transport::Grpc, ONE_SERVICE_PER_BOX)).await;
    assert_eq!(conforms(&mut deployment, 2, |_| true).await, 197);
    down(deployment).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rebalanced_split_conforms() {
    let Some(mut deployment) = up(&inventory(REBALANCED)).await else {
        return;
    };
    assert!(conforms(&mut deployment, 1, smoke).await >= 35);
    down(deployment).await;
}

/// A second box, a third and a fourth are lines more in the inventory.
#[tokio::test(flavor = "multi_thread")]
async fn a_monolith_scales_out_to_four() {
    let Some(mut deployment) = up(&inventory(MONOLITH_1)).await else {
        return;
    };
    assert!(conforms(&mut deployment, 1, smoke).await >= 35);
    let first = deployment.running()["monolith@one"].clone();
    deploy(&mut deployment, &inventory(MONOLITH_X4)).await;
    assert!(conforms(&mut deployment, 2, smoke).await >= 35);
    assert_eq!(deployment.running().len(), 4);
    assert_eq!(deployment.running()["monolith@one"], first);
    down(deployment).await;
}
